# The build image brings Swift; the image that runs has only the C libraries the server links.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq-dev libuv1-dev libjemalloc-dev libssl-dev libicu-dev libroaring-dev libcurl4-openssl-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tiffin
COPY . .
RUN swift build -c release --product tiffin --static-swift-stdlib \
    && install "$(swift build -c release --product tiffin --static-swift-stdlib --show-bin-path)/tiffin" /usr/local/bin/

FROM debian:bookworm-slim
# tzdata: outlets open and close in their own time zones.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq5 libuv1 libjemalloc2 libssl3 libicu72 libroaring0 libcurl4 zlib1g libstdc++6 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home tiffin
COPY --from=build /usr/local/bin/tiffin /usr/local/bin/tiffin
USER tiffin
# The line protocol, the store and the console.
EXPOSE 7379 7380 7381
# 503 while the log is read, or the database is away. The image has no program that speaks HTTP.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7380 && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["tiffin"]
CMD ["serve"]
