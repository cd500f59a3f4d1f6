-- The table and the function of a message store as message-db documents them: one call of the function writes a message,
-- if its stream has the version that the writer expects. The lock of the category lets positions become visible in the
-- order of commits, so writers of a category wait for each other's flush.

create function category(stream_name text) returns text language sql immutable as $$ select split_part(stream_name, '-', 1) $$;

create table messages (
    global_position bigserial primary key,
    position bigint not null,
    time timestamp not null default (now() at time zone 'utc'),
    stream_name text not null,
    type text not null,
    data jsonb,
    metadata jsonb,
    id uuid not null default gen_random_uuid()
);
create unique index messages_id on messages (id);
create unique index messages_stream on messages (stream_name, position);
create index messages_category on messages (
    category(stream_name), global_position, category(metadata ->> 'correlationStreamName'));

create function write_message(
    new_id uuid, stream text, new_type text, new_data jsonb, new_metadata jsonb, expected_version bigint
) returns bigint language plpgsql as $$
declare
    version bigint;
begin
    perform pg_advisory_xact_lock(('x' || left(md5(category(stream)), 16))::bit(64)::bigint);
    select coalesce(max(position), -1) into version from messages where stream_name = stream;
    if version <> expected_version then
        raise exception 'the stream % has version %, not %', stream, version, expected_version;
    end if;
    insert into messages (position, stream_name, type, data, metadata, id)
    values (version + 1, stream, new_type, new_data, new_metadata, new_id);
    return version + 1;
end
$$;
