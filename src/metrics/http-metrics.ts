// Metrics of requests, named as in OpenTelemetry, and of what the server refuses. No label has a value that
// callers choose.

import type { Server } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestEnd } from '../http/request-observer.ts';
import { problems } from '../http/response/problem.ts';
import type { ServerMetrics } from '../http/server.ts';
import { authenticationFailure, authenticationFailures } from '../operations/api-token/authenticate.ts';
import type { Problem } from '../problem.ts';
import { addGauge, addLabelledGauge } from './gauge.ts';
import { Histogram, type Series } from './histogram.ts';

const SECONDS = [0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Methods by index. Node's parser knows more, which count as the first. */
const METHODS = ['_OTHER', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const MAX_STATUS = 999;

/** Series by method and status. */
type SeriesOfRoute = Map<number, Series>;

export class HttpMetrics implements ServerMetrics {
  readonly #registry: Registry;
  readonly #durations: Histogram<'http_request_method' | 'http_route' | 'http_response_status_code'>;
  readonly #series = new Map<string, SeriesOfRoute>();
  /** Active requests by the index of the method. */
  readonly #active: number[] = METHODS.map(() => 0);
  readonly #rejections: Counter<'code'>;
  readonly #authenticationFailures: Counter<'reason'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#durations = new Histogram(registry, {
      name: 'http_server_request_duration_seconds',
      help: 'From the arrival of a request to the end of its response. http_route is empty for unknown paths, http_response_status_code if the client disconnected before the response.',
      buckets: SECONDS,
    });
    this.#rejections = new Counter({
      name: 'user_group_service_rejections_total',
      help: 'Error responses by error code.',
      labelNames: ['code'],
      registers: [registry],
    });
    this.#authenticationFailures = new Counter({
      name: 'user_group_service_authentication_failures_total',
      help: 'Requests whose API token is missing or malformed, unknown, expired or revoked.',
      labelNames: ['reason'],
      registers: [registry],
    });
    // Starts the series at 0, so that reaching 1 counts as an increase.
    for (const code of Object.keys(problems)) this.#rejections.inc({ code }, 0);
    for (const reason of authenticationFailures) this.#authenticationFailures.inc({ reason }, 0);
    addLabelledGauge(registry, {
      name: 'http_server_active_requests',
      help: 'Requests in progress.',
      label: 'http_request_method',
      read: () => Object.fromEntries(METHODS.map((method, index) => [method, this.#active[index]!])),
    });
  }

  request(request: FastifyRequest): RequestEnd {
    const method = Math.max(0, METHODS.indexOf(request.method));
    this.#active[method]!++;
    return (status, durationMs) => {
      this.#active[method]!--;
      this.#findSeries(request, method, status).observe(durationMs / 1_000);
    };
  }

  rejected(problem: Problem): void {
    this.#rejections.inc({ code: problem.code });
    const reason = authenticationFailure(problem);
    if (reason !== null) this.#authenticationFailures.inc({ reason });
  }

  watch(server: Server, maxConnections: number): void {
    const registers = [this.#registry];
    addGauge(this.#registry, {
      name: 'user_group_service_client_connections',
      help: 'Open connections of clients.',
      read: () => countConnections(server),
    });
    new Gauge({
      name: 'user_group_service_client_connections_max',
      help: 'Maximum number of connections. Beyond it, some without an authenticated request, or beyond the share of a workspace, are closed.',
      registers,
      aggregator: 'max',
    }).set(maxConnections);
    const refused = new Counter({
      name: 'user_group_service_client_connections_refused_total',
      help: 'Connections that were closed because there were too many.',
      registers,
    });
    server.on('drop', () => refused.inc());
  }

  #findSeries(request: FastifyRequest, method: number, status: number | null): Series {
    const { url: route = '' } = request.routeOptions;
    const ofRoute: SeriesOfRoute = this.#series.get(route) ?? new Map();
    const key = method * (MAX_STATUS + 1) + (status ?? 0);
    const known = ofRoute.get(key);
    if (known !== undefined) return known;
    const series = this.#durations.series({
      http_request_method: METHODS[method]!,
      http_route: route,
      http_response_status_code: String(status ?? ''),
    });
    this.#series.set(route, ofRoute.set(key, series));
    return series;
  }
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((_error, count) => resolve(count ?? 0));
  });
}
