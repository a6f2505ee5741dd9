// deploy/helm: the chart refuses unknown values, and renders manifests that have the types of the Kubernetes
// API, whose names agree, and whose values fit the settings and the image.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { Container, PodSpec, Service } from 'kubernetes-types/core/v1.d.ts';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parse, parseAllDocuments } from 'yaml';
import { CLOSING_MS } from '../../src/commands/run-until-signal.ts';
import { type Setting, settings } from '../../src/config.ts';
import { publicEndpoints } from '../../src/http/routes.ts';
import { Folder } from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = join(ROOT, 'deploy/helm/user-group-service');
/** Oldest version that the chart accepts, and newest version. */
const KUBERNETES = ['1.27.0', '1.37.0'];
const IMAGE = 'registry.example.com/user-group-service';
/** Prints the folder of the schemas without importing the package, which would need its dependencies. */
const FIND_SCHEMAS =
  "import importlib.util as u; print(u.find_spec('kubernetes_validate').submodule_search_locations[0])";
const SCHEMAS = [
  'deployment-apps-v1.json',
  'networkpolicy-networking-v1.json',
  'poddisruptionbudget-policy-v1.json',
  'service-v1.json',
];
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';

interface Manifest {
  kind: string;
  apiVersion: string;
}

interface PodMonitor extends Manifest {
  spec: {
    jobLabel: string;
    selector: { matchLabels: Record<string, string> };
    podMetricsEndpoints: { port: string }[];
  };
}

interface Values {
  image: { repository: string; tag: string };
  secrets: object;
  settings: Record<string, unknown>;
  networkPolicy: object;
  podDisruptionBudget: object;
  metrics: object;
}

function output(command: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

const template = (...args: string[]) =>
  spawnSync('helm', ['template', 'ugs', CHART, '--kube-version', KUBERNETES[0]!, ...args], {
    encoding: 'utf8',
  });

/** Variable of Node. */
const AUTHORITIES = 'NODE_EXTRA_CA_CERTS';

/** Renders the manifests. Kubernetes reads YAML 1.1, where 0440 is octal. */
function render(...args: string[]): Manifest[] {
  const { status, stdout, stderr } = template('--set', `image.repository=${IMAGE}`, ...args);
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS());
}

function deploymentOf(...args: string[]): Deployment {
  return render(...args).find(({ kind }) => kind === 'Deployment') as Deployment;
}

const podOf = (...args: string[]): PodSpec => deploymentOf(...args).spec!.template.spec!;

const isHelmInstalled = output('helm', 'version') !== null;
const skip = !isHelmInstalled && 'helm is not installed';

const read = (name: string) => readFileSync(join(CHART, name), 'utf8');
const fits = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(read('values.schema.json')));

describe('The values of the chart', () => {
  const values: Values = parse(read('values.yaml'));

  it('fit their schema, which refuses unknown ones', () => {
    assert.ok(fits(values), JSON.stringify(fits.errors));
    assert.equal(fits({ ...values, replica: 3 }), false);
    assert.equal(fits({ ...values, image: { ...values.image, tag: 'latest' } }), false);
  });

  it('that are null are refused, unless the chart renders something useful without them', () => {
    for (const name of [
      'terminationGracePeriodSeconds',
      'startupSeconds',
      'host',
      'replicas',
      'podDisruptionBudget',
    ] as const)
      assert.equal(fits({ ...values, [name]: undefined }), false, name);
    assert.equal(fits({ ...values, metrics: { enabled: true, podMonitor: {} } }), false);
    assert.equal(fits({ ...values, service: { type: 'NodePort' } }), false);
    assert.equal(fits({ ...values, networkPolicy: { enabled: true } }), false);
    // A file with only the name must not remove the policy.
    for (const name of ['networkPolicy', 'podDisruptionBudget', 'metrics'] as const)
      assert.equal(fits({ ...values, [name]: { ...values[name], enabled: undefined } }), false, name);
  });

  // A values file can remove what another one sets only with null.
  it('remove an optional secret and a setting if they are null', () => {
    const { secrets } = values;
    const without = { ...secrets, bootstrapApiToken: null, certificateAuthority: null };
    assert.ok(fits({ ...values, secrets: without }), JSON.stringify(fits.errors));
    assert.ok(fits({ ...values, settings: { LOG_LEVEL: null } }), JSON.stringify(fits.errors));
    assert.equal(fits({ ...values, secrets: { ...secrets, databaseUrl: null } }), false);
    assert.equal(fits({ ...values, secrets: { ...secrets, bootstrapApiToken: { name: 'first' } } }), false);
  });

  it('are refused for a budget with which no node could be drained', () => {
    const accepts = (maxUnavailable: unknown) =>
      fits({ ...values, podDisruptionBudget: { enabled: true, maxUnavailable } });
    assert.deepEqual([1, '25%'].map(accepts), [true, true]);
    assert.deepEqual([0, '0%', '1', ''].map(accepts), [false, false, false, false]);
  });

  it('name no registry', () => {
    assert.equal(values.image.repository, '');
  });

  it('may be every setting that the chart does not set itself, and no secret', () => {
    const own = ['HOST', 'PORT', 'DATABASE_URL', 'UGS_METRICS_ADDRESS'];
    const accepts = (name: string) => fits({ ...values, settings: { [name]: 'x' } });
    for (const { env, secret } of Object.values(settings) as Setting<unknown>[]) {
      assert.equal(accepts(env), !secret && !own.includes(env), env);
      if (secret) assert.equal(accepts(`${env}_FILE`), false, env);
    }
    assert.ok(accepts('PGSSLMODE'));
    assert.equal(fits({ ...values, settings: { UGS_THREADS: 2 } }), false);
  });

  it('are those of this version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const { version: chartVersion, appVersion } = parse(read('Chart.yaml'));
    assert.deepEqual([chartVersion, appVersion], [version, version]);
  });
});

describe('The manifests of the chart', { skip }, () => {
  const manifests = render('--set', 'metrics.podMonitor.enabled=true');
  const find = <Kind>(kind: string) => manifests.find((each) => each.kind === kind) as Kind;
  const deployment = find<Deployment>('Deployment');
  const service = find<Service>('Service');
  const budget = find<PodDisruptionBudget>('PodDisruptionBudget');
  const policy = find<NetworkPolicy>('NetworkPolicy');
  const monitor = find<PodMonitor>('PodMonitor');
  const { metadata, spec } = deployment.spec!.template;
  const pod = spec!;
  const container = pod.containers[0]!;
  const environmentOf = ({ env }: Container) =>
    Object.fromEntries(env!.map(({ name, value }) => [name, value!]));
  const env = environmentOf(container);
  const millisecondsOf = (name: 'shutdownDelayMs' | 'shutdownTimeoutMs' | 'databaseWaitMs') =>
    Number(env[settings[name].env] ?? settings[name].fallback);

  it('pass helm lint', () => {
    const { status, stdout } = spawnSync('helm', ['lint', '--strict', CHART], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });

  it('need an image', () => {
    const { status, stderr } = template();
    assert.notEqual(status, 0);
    assert.match(stderr, /set image\.repository to where you have pushed the image/);
  });

  it('have no secret', () => {
    assert.deepEqual(manifests.map(({ kind }) => kind).sort(), [
      'Deployment',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PodMonitor',
      'Service',
    ]);
  });

  it('are accepted by kubeconform, for the oldest and the newest Kubernetes', (t) => {
    if (output('kubeconform', '-v') === null) return t.skip('kubeconform is not installed');
    const installed = output('python3', '-c', FIND_SCHEMAS);
    if (!installed) return t.skip('kubernetes-validate, a Python package with schemas, is not installed');
    const monitorSchema = findPodMonitorSchema();
    if (!monitorSchema) return t.skip(`${OPERATOR}, a Go module with a schema, is not available`);
    for (const version of KUBERNETES) {
      using folder = new Folder();
      const schemas = join(installed, `kubernetes-json-schema/v${version}-local-strict`);
      for (const file of SCHEMAS) writeFileSync(folder.join(file), selfContained(schemas, file));
      writeFileSync(folder.join('podmonitor-monitoring-v1.json'), JSON.stringify(monitorSchema));
      assert.match(kubeconform(folder, manifests), /Valid: 5, Invalid: 0, Errors: 0, Skipped: 0/);
      for (const manifest of manifests) {
        const { spec } = manifest as Manifest & { spec: object };
        const wrong = { ...manifest, spec: { ...spec, unknown: true } };
        assert.match(kubeconform(folder, [wrong]), /Invalid: 1/, manifest.kind);
      }
    }
  });

  it('have the types of the Kubernetes API, without unknown fields', () => {
    const types: Record<string, string> = {
      Deployment: 'apps/v1',
      NetworkPolicy: 'networking/v1',
      PodDisruptionBudget: 'policy/v1',
      Service: 'core/v1',
    };
    using folder = new Folder();
    const source = manifests.flatMap((manifest) => {
      const { kind } = manifest;
      const type = types[kind];
      if (!type) return [];
      const path = join(ROOT, 'node_modules/kubernetes-types', type);
      return `export const a${kind}: import('${path}').${kind} = ${JSON.stringify(manifest)};`;
    });
    writeFileSync(folder.join('manifests.ts'), source.join('\n'));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['--noEmit', '--strict', 'manifests.ts'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });

  it('select the same pods', () => {
    const spread = pod.topologySpreadConstraints!.map(({ labelSelector }) => labelSelector!.matchLabels);
    for (const selected of [
      deployment.spec!.selector.matchLabels,
      service.spec!.selector,
      budget.spec!.selector!.matchLabels,
      policy.spec!.podSelector!.matchLabels,
      monitor.spec.selector.matchLabels,
      ...spread,
    ]) {
      assert.ok(Object.keys(selected!).length > 0);
      assert.deepEqual({ ...metadata!.labels, ...selected }, metadata!.labels);
    }
  });

  it('name ports, volumes and images that exist', () => {
    const [port, metrics] = container.ports!;
    assert.equal(port!.containerPort, Number(env.PORT));
    assert.equal(service.spec!.ports![0]!.targetPort, port!.name);
    assert.equal(env.UGS_METRICS_ADDRESS, `0.0.0.0:${metrics!.containerPort}`);
    assert.equal(monitor.spec.podMetricsEndpoints[0]!.port, metrics!.name);
    const ingress = policy.spec!.ingress!.map(({ ports }) => ports![0]!.port);
    assert.deepEqual(ingress, [port!.name, metrics!.name]);
    const volumes = pod.volumes!.map(({ name }) => name);
    assert.deepEqual(container.volumeMounts!.map(({ name }) => name).sort(), volumes.sort());
    assert.match(container.image!, new RegExp(`^${IMAGE}:\\d+\\.\\d+\\.\\d+$`));
  });

  it('let the pods of a cluster with IPv6 addresses listen on them', () => {
    const { HOST, UGS_METRICS_ADDRESS } = environmentOf(podOf('--set', 'host=::').containers[0]!);
    assert.deepEqual({ HOST, UGS_METRICS_ADDRESS }, { HOST: '::', UGS_METRICS_ADDRESS: '[::]:9464' });
  });

  const hasOnlyKnownSettings = (pod: PodSpec, expectedFiles: readonly string[]) => {
    const env = environmentOf(pod.containers[0]!);
    const known = Object.values(settings).flatMap((each) => [each.env, `${each.env}_FILE`]);
    for (const name of Object.keys(env)) assert.ok(known.includes(name) || name === AUTHORITIES, name);
    const named = Object.keys(env).filter((name) => name.endsWith('_FILE') || name === AUTHORITIES);
    assert.deepEqual(named, expectedFiles);
    const { mountPath } = pod.containers[0]!.volumeMounts!.find(({ name }) => name === 'secrets')!;
    const { sources } = pod.volumes!.find(({ name }) => name === 'secrets')!.projected!;
    assert.deepEqual(
      named.map((name) => env[name]),
      sources!.map(({ secret }) => join(mountPath, secret!.items![0]!.path)),
    );
  };

  it('set only known settings, whose secret files are mounted', () => {
    hasOnlyKnownSettings(pod, ['DATABASE_URL_FILE', 'UGS_TOKEN_KEYS_FILE']);
  });

  it('may name secrets and a release as YAML writes numbers and truth values', () => {
    const { status, stdout, stderr } = spawnSync(
      'helm',
      [
        ...['template', '1e3', CHART, '--kube-version', KUBERNETES[0]!],
        ...['--set', `image.repository=${IMAGE}`, '--set-json'],
        'secrets={"databaseUrl":{"name":"n","key":"1"},"tokenKeys":{"name":"1e3","key":"on"}}',
      ],
      { encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    const documents = parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS());
    const { spec } = documents.find(({ kind }) => kind === 'Deployment') as Deployment;
    assert.equal(spec!.selector.matchLabels!['app.kubernetes.io/instance'], '1e3');
    const { sources } = spec!.template.spec!.volumes![0]!.projected!;
    assert.deepEqual(
      sources!.map(({ secret }) => [secret!.name, secret!.items![0]!.key]),
      [
        ['n', '1'],
        ['1e3', 'on'],
      ],
    );
  });

  for (const [secret, variable] of [
    ['bootstrapApiToken', 'UGS_BOOTSTRAP_API_TOKEN_FILE'],
    ['certificateAuthority', AUTHORITIES],
  ] as const) {
    it(`mount ${secret} if values name its secret`, () => {
      const pod = podOf('--set-json', `secrets.${secret}={"name":"first","key":"text"}`);
      hasOnlyKnownSettings(pod, ['DATABASE_URL_FILE', 'UGS_TOKEN_KEYS_FILE', variable]);
    });
  }

  it('lack a setting that is null', () => {
    const { env } = podOf('--set', 'settings.LOG_LEVEL=null,settings.UGS_SHUTDOWN_DELAY_MS=null')
      .containers[0]!;
    const names = env!.map(({ name }) => name);
    assert.deepEqual(names, [
      'HOST',
      'PORT',
      'UGS_METRICS_ADDRESS',
      'DATABASE_URL_FILE',
      'UGS_TOKEN_KEYS_FILE',
    ]);
  });

  it('probe paths that the service has', () => {
    const paths = publicEndpoints.map(({ path }) => path);
    const { startupProbe, readinessProbe, livenessProbe } = container;
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      assert.ok(paths.includes(probe!.httpGet!.path!));
      assert.equal(probe!.httpGet!.port, container.ports![0]!.name);
    }
    assert.deepEqual([readinessProbe!.httpGet!.path, livenessProbe!.httpGet!.path], ['/readyz', '/healthz']);
  });

  it('allow a start to wait for the database, and a graceful shutdown to end', () => {
    for (const startupSeconds of [61, 120]) {
      const pod = podOf('--set', `startupSeconds=${startupSeconds}`);
      const { periodSeconds, failureThreshold } = pod.containers[0]!.startupProbe!;
      // The first probe is sent immediately.
      assert.ok(periodSeconds! * (failureThreshold! - 1) >= startupSeconds);
    }
    assert.ok(deploymentOf('--set', 'startupSeconds=3600').spec!.progressDeadlineSeconds! > 3_600);
    const shutdownMs = millisecondsOf('shutdownDelayMs') + millisecondsOf('shutdownTimeoutMs');
    assert.ok(pod.terminationGracePeriodSeconds! * 1_000 > shutdownMs + CLOSING_MS);
    // The pod must leave the Service while it is still serving.
    const readiness = container.readinessProbe!;
    assert.ok(
      readiness.periodSeconds! * readiness.failureThreshold! * 1_000 < millisecondsOf('shutdownDelayMs'),
    );
  });

  it('are refused if a pod would be killed', () => {
    const refusal = (setting: string) =>
      template('--set', `image.repository=${IMAGE}`, '--set-string', `settings.${setting}`).stderr;
    assert.match(refusal('UGS_SHUTDOWN_DELAY_MS=11001'), /set terminationGracePeriodSeconds to 41 or more/);
    assert.match(refusal('UGS_SHUTDOWN_TIMEOUT_MS=60000'), /set terminationGracePeriodSeconds to 79 or more/);
    assert.match(
      refusal('UGS_DATABASE_WAIT_MS=120000'),
      /set startupSeconds to more than UGS_DATABASE_WAIT_MS/,
    );
    assert.match(refusal('UGS_POSTGRES_POOL_SIZE=10'), /set settings\.UGS_THREADS too/);
    assert.equal(refusal('UGS_POSTGRES_POOL_SIZE=10,settings.UGS_THREADS=4'), '');
    // The defaults that the chart repeats.
    const { shutdownDelayMs, shutdownTimeoutMs, databaseWaitMs, postgresPoolSize } = settings;
    const helpers = read('templates/_helpers.tpl');
    for (const { env, fallback } of [shutdownDelayMs, shutdownTimeoutMs, databaseWaitMs, postgresPoolSize])
      assert.ok(helpers.includes(`.Values.settings.${env} | default "${fallback}"`), env);
  });

  it('leave the number of processes to an autoscaler if values say so', () => {
    assert.equal(deploymentOf('--set', 'replicas=0').spec!.replicas, 0);
    assert.equal(deploymentOf('--set', 'replicas=autoscaled').spec!.replicas, undefined);
    assert.match(template('--set', 'replicas=many').stderr, /autoscaled/);
  });

  it('replace and evict one process only while another one is ready', () => {
    const { replicas, strategy } = deployment.spec!;
    assert.equal(strategy!.rollingUpdate!.maxUnavailable, 0);
    assert.ok(replicas! - Number(budget.spec!.maxUnavailable) >= 1);
  });

  it('run without privileges, as the user of the image, on a read-only file system', () => {
    const { runAsNonRoot, runAsUser, fsGroup } = pod.securityContext!;
    assert.deepEqual([runAsNonRoot, runAsUser, fsGroup], [true, 1_000, 1_000]);
    assert.match(readFileSync('Dockerfile', 'utf8'), /^USER 1000$/m);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    } satisfies Container['securityContext']);
    assert.equal(pod.automountServiceAccountToken, false);
    assert.equal(pod.securityContext!.seccompProfile!.type, 'RuntimeDefault');
    assert.equal(pod.volumes!.find(({ name }) => name === 'secrets')!.projected!.defaultMode, 0o440);
  });

  it('let webhooks reach no private address, and a database everywhere unless its peers are named', () => {
    const [dns, database, webhooks] = policy.spec!.egress!;
    assert.deepEqual(new Set(dns!.ports!.map(({ port }) => port)), new Set([53]));
    assert.deepEqual([database!.ports![0]!.port, database!.to], [5_432, undefined]);
    const [ipv4] = webhooks!.to!;
    for (const range of ['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'])
      assert.ok(ipv4!.ipBlock!.except!.includes(range));
    const peers = '[{"ipBlock":{"cidr":"10.9.0.0/16"}}]';
    const narrowed = render('--set-json', `networkPolicy.database.peers=${peers}`);
    const { spec } = narrowed.find(({ kind }) => kind === 'NetworkPolicy') as NetworkPolicy;
    assert.deepEqual(spec!.egress![1]!.to, JSON.parse(peers));
  });

  it('leave out what is switched off', () => {
    const without = render('--set', 'metrics.enabled=false,networkPolicy.enabled=false');
    assert.deepEqual(without.map(({ kind }) => kind).sort(), [
      'Deployment',
      'PodDisruptionBudget',
      'Service',
    ]);
    const withoutBudget = render('--set', 'podDisruptionBudget.enabled=false');
    assert.ok(!withoutBudget.some(({ kind }) => kind === 'PodDisruptionBudget'));
    const { spec } = without.find(({ kind }) => kind === 'Deployment') as Deployment;
    assert.ok(!JSON.stringify(spec).includes('UGS_METRICS_ADDRESS'));
  });
});

/** Runs kubeconform on the manifests, and returns its output. */
function kubeconform(folder: Folder, items: readonly Manifest[]): string {
  const file = folder.join('manifests.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const location = folder.join('{{.ResourceKind}}{{.KindSuffix}}.json');
  const args = ['-strict', '-summary', '-schema-location', location, file];
  return spawnSync('kubeconform', args, { encoding: 'utf8' }).stdout;
}

/** Returns a schema of the Python package, together with the definitions that it refers to. */
function selfContained(folder: string, file: string): string {
  const [schema, definitions] = [file, '_definitions.json'].map((name) =>
    readFileSync(join(folder, name), 'utf8').replaceAll('/api/_definitions.json#', '#'),
  );
  return JSON.stringify({ ...JSON.parse(definitions!), ...JSON.parse(schema!) });
}

/** Returns the schema in the resource definition; null if the Go module is not available. */
function findPodMonitorSchema(): object | null {
  const module = output('go', 'mod', 'download', '-json', OPERATOR);
  if (!module) return null;
  const file = join(
    JSON.parse(module).Dir,
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
  );
  const [version] = parse(readFileSync(file, 'utf8')).spec.versions;
  return withoutUnknownFields(version.schema.openAPIV3Schema);
}

function withoutUnknownFields<Schema extends object>(schema: Schema): Schema {
  const members = Object.entries(schema).map(([key, value]) => [
    key,
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? withoutUnknownFields(value)
      : value,
  ]);
  const isClosed = 'type' in schema && schema.type === 'object' && 'properties' in schema;
  return { ...Object.fromEntries(members), ...(isClosed && { additionalProperties: false }) };
}
