// deploy/prometheus and deploy/grafana: a real Prometheus scrapes the service, and every query of the
// dashboard and the alerts has a result.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { endpoints } from '../../src/http/routes.ts';
import { recordBackup } from '../../src/store/sqlite/file/storage.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually, Folder } from '../support/process.ts';
import { isPrometheusInstalled, Prometheus, readRules } from '../support/prometheus.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** Longer than the wait for the scrapes. */
const LIMIT_MS = 180_000;
/** At least two scrapes, for a rate. */
const SCRAPES = 3;
const METRIC = /\b[a-z]+(?:_[a-z0-9]+){2,}\b/g;
/** Start of the URL of each runbook, with the default of its variable. */
const RUNBOOKS = String.raw`\{\{ or \$externalLabels\.user_group_service_runbooks "file:///[^"]+/monitor\.md" \}\}`;
/** Metrics that exist only on one database. */
const ONLY_ON = {
  PostgreSQL: /^user_group_service_database_connections/,
  SQLite: /^user_group_service_(?:database_(?:bytes|disk)|backup)/,
  Citus: /^$/,
};

interface Query {
  where: string;
  expr: string;
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const dashboard = JSON.parse(readFileSync(`${DEPLOY}grafana/user-group-service.json`, 'utf8'));
const rules = readRules();

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

/** Series, as in promtool's unit tests, that make each alert fire. */
const troubles: Record<string, Record<string, string>> = {
  UserGroupServiceDown: { up: '0x240' },
  UserGroupServiceRestarting: { process_start_time_seconds: '0+60x240' },
  UserGroupServiceMissing: {},
  UserGroupServiceFewerProcesses: { up: '1x240', 'up{instance="removed"}': '1x120' },
  UserGroupServiceNotReady: { user_group_service_ready: '0x240' },
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
  UserGroupServiceRateLimited: { 'user_group_service_rejections_total{code="rate_limited"}': '0+3x240' },
  UserGroupServiceEventLoopBlocked: { nodejs_eventloop_lag_p99_seconds: '0.3x240' },
  UserGroupServiceConnections: {
    user_group_service_client_connections: '9500x240',
    user_group_service_client_connections_max: '10000x240',
  },
  UserGroupServiceAuthenticationFailures: {
    'user_group_service_authentication_failures_total{reason="unknown"}': '0+100x240',
  },
  UserGroupServiceInvalidApiToken: {
    'user_group_service_authentication_failures_total{reason="expired"}': '0+1x240',
  },
  UserGroupServiceWebhooksFailing: {
    'webhook_deliveries_total{outcome="failed"}': '0+6x240',
    'webhook_deliveries_total{outcome="delivered"}': '0+4x240',
  },
  UserGroupServiceWebhooksPending: { webhook_deliveries_pending: '20000x240' },
  UserGroupServiceRetentionFailing: { user_group_service_event_retention_failing: '1x240' },
  UserGroupServiceRetentionBehind: { user_group_service_event_retention_lag_seconds: '20000x240' },
  UserGroupServiceEventFeedDelayed: { user_group_service_event_feed_delay_seconds: '0+15x240' },
  UserGroupServiceWalLarge: { 'user_group_service_database_bytes{file="wal"}': '300000000x240' },
  // A second copy of the database would not fit.
  UserGroupServiceDiskSpace: {
    user_group_service_database_disk_free_bytes: '3000000000x240',
    'user_group_service_database_bytes{file="database"}': '4000000000x240',
  },
  UserGroupServiceBackupOld: { user_group_service_backup_timestamp_seconds: '-100000x240' },
  UserGroupServiceWebhookDisabled: { webhook_endpoints_disabled_total: '0x200 1x40' },
};

/** Series of a disturbance that is over within a minute, such as a restart of the database. */
const disturbance = {
  up: '1x200',
  'user_group_service_authentication_failures_total{reason="revoked"}': '0x40 20 40 60x160',
  'user_group_service_rejections_total{code="database_unavailable"}': '0x40 20 40 60x160',
  'user_group_service_rejections_total{code="rate_limited"}': '0x40 1000 2000 3000x160',
  'user_group_service_rejections_total{code="overloaded"}': '0x40 1000 2000 3000x160',
  'user_group_service_authentication_failures_total{reason="unknown"}': '0x40 1000 2000 3000x160',
  'http_server_request_duration_seconds_count{http_route="/api/user"}': '0+20x200',
  'webhook_deliveries_total{outcome="delivered"}': '0x200',
  'webhook_deliveries_total{outcome="failed"}': '0x40 20 40 60x160',
};

/**
 * Series of a deployment that replaces two processes by new ones, one at a time: a new target is unreachable until its
 * process has started, and that of a stopped process is removed.
 */
const deployment = {
  'up{instance="old-1"}': '1x150 0 stale',
  'up{instance="new-1"}': '_x145 0x2 1x200',
  'up{instance="old-2"}': '1x155 0 stale',
  'up{instance="new-2"}': '_x150 0x2 1x200',
  'user_group_service_ready{instance="old-1"}': '1x149 0 stale',
  'user_group_service_ready{instance="new-1"}': '_x148 0 1x200',
};

/** Returns a promtool unit test: the alert fires after an hour of its trouble. */
function alertTest([alert, series]: [string, Record<string, string>], evalTime = '1h'): object {
  const ofService = (name: string) => {
    const [metric, labels = '}'] = name.split('{');
    const instance = labels.includes('instance') ? '' : ',instance="a"';
    return `${metric}{job="user-group-service"${instance}${labels === '}' ? '' : ','}${labels}`;
  };
  return {
    interval: '15s',
    input_series: Object.entries(series).map(([name, values]) => ({ series: ofService(name), values })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: evalTime,
        exp_samples: [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  };
}

/** Returns a promtool unit test: no alert fires until the given time. */
function quietTest(series: Record<string, string>, evalTime: string): object {
  const expr = `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${evalTime}]))`;
  const quiet = { expr, eval_time: evalTime, exp_samples: [] };
  return { ...alertTest(['', series]), promql_expr_test: [quiet] };
}

/** Returns a promtool unit test of a runbook URL, with and without the external label. */
function runbookTest(externalLabels: Record<string, string>, address: string): object {
  const missing = rules.find(({ alert }) => alert === 'UserGroupServiceMissing')!;
  const labels = { job: 'user-group-service', severity: 'critical' };
  return {
    interval: '15s',
    external_labels: externalLabels,
    alert_rule_test: [
      {
        alertname: missing.alert,
        eval_time: '1h',
        exp_alerts: [
          {
            exp_labels: labels,
            exp_annotations: {
              summary: missing.annotations.summary,
              runbook_url: `${address}#usergroupservicemissing`,
            },
          },
        ],
      },
    ],
  };
}

/**
 * Returns the query as Grafana sends it. A comparison keeps its series, with 0 or 1, so that a healthy
 * service has them too. The history of a subquery is too short for its resolution.
 */
function asSent(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$instance', '.*')
    .replace(/^absent\((.*)\)$/, '$1')
    .replace(/ offset \w+/, '')
    .replace(/\[24h:5m\]/, '[1m:1s]')
    .replace(/ (>|<|==) /g, ' $1 bool ');
}

const skip = !isPrometheusInstalled && 'prometheus is not installed (apt install prometheus)';

describe('The alerts', () => {
  it('are each documented in a section, to which they link', () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/monitor.md', import.meta.url)), 'utf8');
    const [, section = ''] = page.split('### Alerts\n');
    for (const { alert, annotations } of rules) {
      assert.match(section, new RegExp(`^#### ${alert}\n\n.+`, 'm'));
      assert.match(annotations.runbook_url!, new RegExp(`^${RUNBOOKS}#${alert.toLowerCase()}$`));
    }
  });

  it('each have a trouble for which the tests expect them', () => {
    assert.deepEqual(Object.keys(troubles).sort(), rules.map(({ alert }) => alert).sort());
  });

  it('and the panels about the duration of requests cover every endpoint of the API', () => {
    const patterns = queries.flatMap(({ expr }) => /http_route=~"([^"]+)"/.exec(expr)?.[1] ?? []);
    assert.ok(patterns.length > 1);
    for (const pattern of new Set(patterns))
      for (const path of endpoints.flatMap(({ paths }) => paths))
        assert.match(path, new RegExp(`^(?:${pattern})$`));
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

/**
 * Runs promtool unit tests on the rules. Each evaluation takes milliseconds, so a test of a state that lasts evaluates
 * them less often than Prometheus does.
 */
function assertPass(tests: readonly object[], evaluationInterval = '15s'): void {
  using folder = new Folder();
  cpSync(`${DEPLOY}prometheus/alerts.yml`, folder.join('alerts.yml'));
  writeFileSync(
    folder.join('tests.yml'),
    stringify({ rule_files: ['alerts.yml'], evaluation_interval: evaluationInterval, tests }),
  );
  const { status, stdout } = spawnSync('promtool', ['test', 'rules', folder.join('tests.yml')]);
  assert.equal(status, 0, String(stdout));
}

describe('Each alert', () => {
  it('fires in the trouble that it is for', { skip }, () => {
    assertPass(
      Object.entries(troubles).map((trouble) => alertTest(trouble)),
      '1m',
    );
  });

  it('of a rate does not fire for a disturbance that is over within a minute', { skip }, () => {
    assertPass([quietTest(disturbance, '50m')]);
  });

  it('is silent during a deployment', { skip }, () => {
    assertPass([quietTest(deployment, '80m')]);
  });

  it('fires for a crash loop of 80 seconds, which shows only in that most scrapes fail', {
    skip,
  }, () => {
    const series = { up: '1x40 0x2 1 0 1x200', process_start_time_seconds: '1x40 _x3 2 _ 3x200' };
    assertPass([alertTest(['UserGroupServiceRestarting', series], '13m')]);
  });

  it('is silent if an autoscaler removes what it has added, but not if it goes below that', { skip }, () => {
    const scaled = { 'up{instance="a"}': '1x1200', 'up{instance="b"}': '_x240 1x480 stale' };
    assertPass([quietTest(scaled, '4h')], '1m');
    const lost = { ...scaled, 'up{instance="c"}': '1x900 stale' };
    assertPass([alertTest(['UserGroupServiceFewerProcesses', lost], '4h')], '1m');
  });

  it('fires for a limit of open files below UGS_MAX_CONNECTIONS', { skip }, () => {
    const series = {
      user_group_service_client_connections: '900x40',
      user_group_service_client_connections_max: '10000x40',
      process_open_fds: '1000x40',
      process_max_fds: '1024x40',
    };
    assertPass([alertTest(['UserGroupServiceConnections', series], '8m')]);
  });

  it('links to its runbook at the address that an external label sets', { skip }, () => {
    const address = 'https://wiki.example.com/operations';
    const installed = 'file:///usr/share/doc/user-group-service/docs/monitor.md';
    assertPass(
      [runbookTest({ user_group_service_runbooks: address }, address), runbookTest({}, installed)],
      '1m',
    );
  });
});

describeOnEachDatabase('a Prometheus that scrapes the service', (database) => {
  const stack = suiteStack();
  let service: TestService | undefined;
  let prometheus: Prometheus;

  before(
    async () => {
      if (!isPrometheusInstalled) return;
      service = stack.use(await TestService.start(database, { env: { UGS_METRICS_ADDRESS: '127.0.0.1:0' } }));
      if (database.name === 'SQLite') recordBackup(service.database.url.slice('sqlite:'.length));
      const targets = [new URL(service.app.metricsUrl!).host];
      prometheus = stack.use(await Prometheus.start({ targets, scrapeMs: 500 }));
      await eventually('scrapes of calls', async () => {
        await callAll();
        const [scrapes] = await prometheus.query(
          `count_over_time(http_server_request_duration_seconds_count{http_route="/v1/resolve"}[1m])`,
        );
        return Number(scrapes?.value[1]) >= SCRAPES;
      });
    },
    { timeout: LIMIT_MS },
  );

  async function callAll(): Promise<void> {
    await service!.get({ user_group_id: 'a', name: 'A' });
    await service!.resolve('unknown');
    await service!.call('GET', '/v1/user-groups');
    await service!.call('GET', '/nothing');
  }

  it('finds it up', { skip }, async () => {
    // On a busy machine, a scrape may time out.
    const up = await eventually('a scrape', async () => {
      const [series] = await prometheus.query('up');
      return series?.value[1] === '1' && series;
    });
    assert.equal(up.metric.job, 'user-group-service');
  });

  it('accepts every rule, and no alert fires for a healthy service', { skip }, async () => {
    const evaluated = await prometheus.evaluatedRules();
    assert.equal(evaluated.length, rules.length);
    for (const { name, health, lastError, state } of evaluated) {
      assert.deepEqual([name, health, lastError], [name, 'ok', undefined]);
      assert.notEqual(state, 'firing', name);
    }
    // On a busy machine, the event loop is delayed, and scrapes time out for a moment.
    await eventually('inactive alerts', async () => {
      const found = await prometheus.evaluatedRules();
      return found.every(
        ({ name, state }) =>
          state === 'inactive' || (name === 'UserGroupServiceEventLoopBlocked' && state === 'pending'),
      );
    });
  });

  for (const [index, { where, expr }] of queries.entries()) {
    const names = expr.match(METRIC) ?? [];
    const isAbsent = Object.entries(ONLY_ON).some(
      ([only, metric]) => only !== database.name && names.some((name) => metric.test(name)),
    );
    it(`${isAbsent ? 'accepts' : 'has a result for'} query ${index + 1}, of ${where}`, { skip }, async () => {
      const result = () => prometheus.query(asSent(expr));
      if (isAbsent) assert.deepEqual(await result(), []);
      else await eventually(asSent(expr), async () => (await result()).length > 0);
    });
  }
});
