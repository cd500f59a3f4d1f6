# The build image brings Swift; the image that runs has only the C libraries the server links.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq-dev libuv1-dev libssl-dev libicu-dev libroaring-dev libcurl4-openssl-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /tiffin
COPY . .
RUN swift build -c release --product tiffin --static-swift-stdlib \
    && install "$(swift build -c release --product tiffin --static-swift-stdlib --show-bin-path)/tiffin" /usr/local/bin/

FROM debian:bookworm-slim
# tzdata: outlets open and close in their own time zones.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libpq5 libuv1 libssl3 libicu72 libroaring0 libcurl4 zlib1g libstdc++6 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home tiffin
COPY --from=build /usr/local/bin/tiffin /usr/local/bin/tiffin
USER tiffin
EXPOSE 7379
ENTRYPOINT ["tiffin"]
CMD ["serve"]
