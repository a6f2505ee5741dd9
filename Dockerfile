# The service as an image: docker build -t user-group-service .

FROM node:26-slim AS dependencies
WORKDIR /dependencies
COPY package.json package-lock.json .npmrc ./
# What packages would run when they are installed brings binaries for the tests.
RUN npm ci --omit=dev --ignore-scripts --no-workspaces

FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-workspaces
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.ts scripts/
COPY src src
RUN node scripts/build.ts
COPY bin bin
COPY LICENSE ./
# Whoever clones under a strict umask has files that nobody else can read.
RUN chmod -R go+rX bin dist package.json LICENSE
RUN mkdir data

FROM node:26-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/bin bin
COPY --from=dependencies /dependencies/node_modules node_modules
COPY --from=build /build/dist dist
# Where a SQLite database is, on a volume; with PostgreSQL nothing is written, and the file system can be read-only.
WORKDIR /var/lib/user-group-service
COPY --from=build --chown=node:node /build/data data
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
# Whether the process lives. Whether it can serve, for which it needs its database, is what a load balancer asks.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/bin/user-group-service.js"]
CMD ["serve"]
