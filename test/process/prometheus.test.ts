// deploy/prometheus and deploy/grafana: a real Prometheus scrapes the service, and every query of the dashboard and of
// the alerts has a result.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { describeOnEachDatabase } from '../support/database.ts';
import { freePort } from '../support/postgres/server.ts';
import { eventually, Folder, Program } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const LIMIT_MS = 60_000;
/** At least two scrapes, for a rate. */
const SCRAPES = 3;
const METRIC = /\b[a-z]+(?:_[a-z0-9]+){2,}\b/g;
/** Metrics that exist only on PostgreSQL. */
const OF_POSTGRES = /^user_group_service_database_connections/;

interface Query {
  where: string;
  expr: string;
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
}

interface Series {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

interface QueryResponse {
  status: string;
  error?: string;
  data: { result: Series[] };
}

interface RulesResponse {
  data: { groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[] };
}

const dashboard = JSON.parse(readFileSync(`${DEPLOY}grafana/user-group-service.json`, 'utf8'));
const rules = (parse(readFileSync(`${DEPLOY}prometheus/alerts.yml`, 'utf8')) as Rules).groups.flatMap(
  ({ rules: each }) => each,
);

const queries: Query[] = [
  ...(dashboard.panels as Panel[]).flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: `panel ${title}`, expr })),
  ),
  ...dashboard.annotations.list.map(({ name, expr }: { name: string; expr: string }) => ({
    where: `annotation ${name}`,
    expr,
  })),
  ...rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, expr })),
];

/** Series, as in promtool's unit tests, with which each alert fires. */
const troubles: Record<string, Record<string, string>> = {
  UserGroupServiceDown: { up: '0x240' },
  UserGroupServiceErrors: {
    'user_group_service_rejections_total{code="overloaded"}': '0+30x240',
    'http_server_request_duration_seconds_count{http_route="/api/user"}': '0+1000x240',
  },
  UserGroupServiceInternalError: {
    'user_group_service_rejections_total{code="internal_error"}': '0x220 1x20',
  },
  UserGroupServiceLatency: {
    'http_server_request_duration_seconds_bucket{http_route="/api/user",le="0.5"}': '0+98x240',
    'http_server_request_duration_seconds_bucket{http_route="/api/user",le="1"}': '0+100x240',
    'http_server_request_duration_seconds_bucket{http_route="/api/user",le="+Inf"}': '0+100x240',
  },
  UserGroupServiceDatabaseUnavailable: {
    'user_group_service_rejections_total{code="database_unavailable"}': '0+1x240',
  },
  UserGroupServiceOverloaded: { 'user_group_service_rejections_total{code="overloaded"}': '0+3x240' },
  UserGroupServiceEventLoopBlocked: { nodejs_eventloop_lag_p99_seconds: '0.3x240' },
  UserGroupServiceConnections: {
    user_group_service_client_connections: '9500x240',
    user_group_service_client_connections_max: '10000x240',
  },
  UserGroupServiceAuthenticationFailures: {
    'user_group_service_authentication_failures_total{reason="unknown"}': '0+100x240',
  },
  UserGroupServiceWebhooksFailing: {
    'webhook_deliveries_total{outcome="failed"}': '0+6x240',
    'webhook_deliveries_total{outcome="delivered"}': '0+4x240',
  },
  UserGroupServiceWebhooksPending: { webhook_deliveries_pending: '20000x240' },
};

/** A unit test of promtool: the alert fires after an hour of its trouble. */
function alertTest([alert, series]: [string, Record<string, string>]): object {
  const ofService = (name: string) =>
    `${name.includes('{') ? name.slice(0, -1) : `${name}{`}${name.includes('{') ? ',' : ''}job="user-group-service",instance="a"}`;
  return {
    interval: '15s',
    input_series: Object.entries(series).map(([name, values]) => ({ series: ofService(name), values })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: '1h',
        exp_samples: [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  };
}

/** As Grafana sends it; a comparison keeps its series, with 0 or 1, so that a healthy service has them too. */
function asSent(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$instance', '.*')
    .replace(/ (>|<|==) /g, ' $1 bool ');
}

const isInstalled = spawnSync('prometheus', ['--version']).error === undefined;
const skip = !isInstalled && 'prometheus is not installed (apt install prometheus)';

describe('The alerts', () => {
  it('are documented with what to do', () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');
    const [, section = ''] = page.split('### Alerts\n');
    for (const { alert, annotations } of rules) {
      assert.match(section, new RegExp(`^\\| \`${alert}\` \\| .+ \\| .+ \\|$`, 'm'));
      assert.equal(annotations.runbook, 'docs/operations.md#alerts');
    }
  });

  it('and the configuration are accepted by promtool', { skip }, () => {
    const { status, stderr } = spawnSync('promtool', [
      'check',
      'config',
      `${DEPLOY}prometheus/prometheus.yml`,
    ]);
    assert.equal(status, 0, String(stderr));
  });
});

describe('Each alert', () => {
  it('fires in the trouble that it is for', { skip }, () => {
    assert.deepEqual(Object.keys(troubles).sort(), rules.map(({ alert }) => alert).sort());
    using folder = new Folder();
    const tests = Object.entries(troubles).map(alertTest);
    cpSync(`${DEPLOY}prometheus/alerts.yml`, folder.join('alerts.yml'));
    writeFileSync(
      folder.join('tests.yml'),
      stringify({ rule_files: ['alerts.yml'], evaluation_interval: '15s', tests }),
    );
    const { status, stdout } = spawnSync('promtool', ['test', 'rules', folder.join('tests.yml')]);
    assert.equal(status, 0, String(stdout));
  });
});

describeOnEachDatabase('a Prometheus that scrapes the service', (database) => {
  const folder = new Folder();
  let service: TestService | undefined;
  let prometheus: Program | undefined;
  let url: string;

  before(
    async () => {
      if (!isInstalled) return;
      service = await TestService.start(database, { env: { UGS_METRICS_ADDRESS: '127.0.0.1:0' } });
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      writeConfiguration(new URL(service.app.metricsUrl!).host);
      const args = [
        '--config.file=prometheus.yml',
        '--storage.tsdb.path=data',
        `--web.listen-address=127.0.0.1:${port}`,
      ];
      prometheus = new Program(folder, args, { command: 'prometheus' });
      await eventually('scrapes of calls', async () => {
        await callAll();
        const [scrapes] = await query(
          `count_over_time(http_server_request_duration_seconds_count{http_route="/v1/resolve"}[1m])`,
        );
        return Number(scrapes?.value[1]) >= SCRAPES;
      });
    },
    { timeout: LIMIT_MS },
  );
  after(async () => {
    await prometheus?.kill();
    await service?.end();
    folder[Symbol.dispose]();
  });

  /** The configuration of deploy/, with a faster interval and the address of the service. */
  function writeConfiguration(target: string): void {
    const configuration = parse(readFileSync(`${DEPLOY}prometheus/prometheus.yml`, 'utf8'));
    configuration.global = { scrape_interval: '500ms', evaluation_interval: '500ms' };
    configuration.scrape_configs[0].static_configs[0].targets = [target];
    writeFileSync(folder.join('prometheus.yml'), stringify(configuration));
    cpSync(`${DEPLOY}prometheus/alerts.yml`, folder.join('alerts.yml'));
  }

  async function callAll(): Promise<void> {
    await service!.get({ user_group_id: 'a', name: 'A' });
    await service!.resolve('unknown');
    await service!.call('GET', '/v1/user-groups');
    await service!.call('GET', '/nothing');
  }

  /** Empty while Prometheus is starting. */
  async function query(expr: string): Promise<Series[]> {
    const parameters = new URLSearchParams({ query: expr });
    const response = await fetch(`${url}/api/v1/query?${parameters}`).catch(() => null);
    if (response === null || response.status === 503) return [];
    const { status, error, data } = (await response.json()) as QueryResponse;
    assert.equal(status, 'success', `${expr}: ${error}`);
    return data.result;
  }

  it('finds it up', { skip }, async () => {
    const [up] = await query('up');
    assert.deepEqual([up!.metric.job, up!.value[1]], ['user-group-service', '1']);
  });

  it('accepts every rule, and no alert fires for a healthy service', { skip }, async () => {
    const evaluated = await eventually('the evaluation of the rules', async () => {
      const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as RulesResponse;
      const each = data.groups.flatMap((group) => group.rules);
      return each.every(({ health }) => health !== 'unknown') && each;
    });
    assert.equal(evaluated.length, rules.length);
    for (const { name, health, lastError, state } of evaluated)
      assert.deepEqual([name, health, lastError, state], [name, 'ok', undefined, 'inactive']);
  });

  for (const [index, { where, expr }] of queries.entries()) {
    const names = expr.match(METRIC) ?? [];
    const isAbsent = names.some((name) => database.name === 'SQLite' && OF_POSTGRES.test(name));
    it(`${isAbsent ? 'accepts' : 'has a result for'} query ${index + 1}, of ${where}`, { skip }, async () => {
      const result = await query(asSent(expr));
      assert.equal(result.length > 0, !isAbsent, asSent(expr));
    });
  }
});
