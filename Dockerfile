# The package of Roost, and the programs that it uses. docs/guide/operate.md says how to run it.
FROM node:24-slim AS build
WORKDIR /build
COPY . .
# Nothing that is installed needs to run a script for the build.
RUN npm ci --ignore-scripts --no-audit --no-fund \
 && mkdir /packed \
 && npm pack --pack-destination /packed \
 && npm install --prefix /roost --ignore-scripts --no-audit --no-fund /packed/roost-*.tgz

FROM node:24-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=node --group=node --mode=0700 /data
COPY --from=build /roost /roost
# A folder in the volume, so that `restore` can put a whole home in its place.
ENV ROOST_HOME=/data/home ROOST_NO_OPEN=1
USER node
VOLUME /data
EXPOSE 4747
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/roost/node_modules/roost/server/roost.mjs"]
