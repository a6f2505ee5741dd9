# Image of the service: docker build -t user-group-service .

FROM node:26-slim AS dependencies
WORKDIR /dependencies
COPY package.json package-lock.json .npmrc ./
# Install scripts only download binaries for the tests.
RUN npm ci --omit=dev --ignore-scripts --no-workspaces

FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-workspaces
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.ts
COPY bin bin
COPY docs/openapi.json docs/
COPY LICENSE ./
# In a clone made with a strict umask, only the owner can read the files.
RUN chmod -R go+rX bin dist docs package.json LICENSE
RUN mkdir data

FROM node:26-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/bin bin
COPY --from=dependencies /dependencies/node_modules node_modules
COPY --from=build /build/dist dist
COPY --from=build /build/docs docs
# A command in PATH for docker exec and kubectl exec.
RUN ln -s /app/bin/user-group-service.js /usr/bin/user-group-service
# Holds the SQLite database, on a volume. With PostgreSQL nothing is written, and the file system can be read-only.
WORKDIR /var/lib/user-group-service
COPY --from=build --chown=node:node /build/data data
# The user node, by number: with runAsNonRoot, Kubernetes refuses a name.
USER 1000
EXPOSE 8080
STOPSIGNAL SIGTERM
# Liveness only. Readiness, which depends on the database, is for the load balancer to check.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/bin/user-group-service.js"]
CMD ["serve"]
