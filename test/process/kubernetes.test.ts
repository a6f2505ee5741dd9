// deploy/kubernetes: the manifests have the types of the Kubernetes API, their names agree, and their values fit the
// settings and the image.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { Container, Service } from 'kubernetes-types/core/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parse } from 'yaml';
import { settings } from '../../src/config.ts';
import { publicEndpoints } from '../../src/http/routes.ts';
import { Folder } from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = 'deploy/kubernetes';
const KUSTOMIZATION = 'kustomization.yaml';
const isKubectlInstalled = spawnSync('kubectl', ['version', '--client']).status === 0;

interface Kustomization {
  resources: string[];
  images: { name: string; newTag: string }[];
}

/** Kubernetes reads YAML 1.1, where 0440 is octal. */
function read<Manifest>(name: string): Manifest {
  return parse(readFileSync(join(FOLDER, name), 'utf8'), { version: '1.1' });
}

const kustomization = read<Kustomization>(KUSTOMIZATION);
const deployment = read<Deployment>('deployment.yaml');
const service = read<Service>('service.yaml');
const budget = read<PodDisruptionBudget>('pod-disruption-budget.yaml');
const template = deployment.spec!.template;
const pod = template.spec!;
const container = pod.containers[0]!;
const env = Object.fromEntries(container.env!.map(({ name, value }) => [name, value!]));

function millisecondsOf(name: 'shutdownDelayMs' | 'shutdownTimeoutMs' | 'databaseWaitMs'): number {
  return Number(env[settings[name].env] ?? settings[name].fallback);
}

describe('The Kubernetes manifests', () => {
  it('are the resources of the kustomization', () => {
    const files = globSync('*.yaml', { cwd: FOLDER }).filter((file) => file !== KUSTOMIZATION);
    assert.deepEqual([...kustomization.resources].sort(), files.sort());
  });

  it('have the types of the Kubernetes API, without unknown fields', () => {
    const types = { Deployment: 'apps/v1', Service: 'core/v1', PodDisruptionBudget: 'policy/v1' };
    using folder = new Folder();
    const source = kustomization.resources.map((file) => {
      const manifest = read<{ kind: keyof typeof types; apiVersion: string }>(file);
      const { kind, apiVersion } = manifest;
      assert.equal(apiVersion, types[kind].replace('core/', ''), file);
      const path = join(ROOT, 'node_modules/kubernetes-types', types[kind]);
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

  it('are accepted by kustomize', { skip: !isKubectlInstalled && 'kubectl is not installed' }, () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', FOLDER], { encoding: 'utf8' });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.equal(stdout.match(/^kind: /gm)?.length, kustomization.resources.length);
  });

  it('name an image by a tag that docs/deploy.md builds, and not latest', () => {
    const docs = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
    for (const { newTag } of kustomization.images) {
      assert.notEqual(newTag, 'latest');
      assert.ok(docs.includes(`docker push registry.example.com/user-group-service:${newTag}\n`));
    }
  });

  it('select the same pods', () => {
    const { labels } = template.metadata!;
    const spread = pod.topologySpreadConstraints!.map(({ labelSelector }) => labelSelector!.matchLabels);
    for (const selected of [
      deployment.spec!.selector.matchLabels,
      service.spec!.selector,
      budget.spec!.selector!.matchLabels,
      ...spread,
    ])
      assert.deepEqual(selected, labels);
  });

  it('name ports, volumes and images that exist', () => {
    const [port] = container.ports!;
    assert.equal(port!.containerPort, Number(env.PORT));
    assert.equal(service.spec!.ports![0]!.targetPort, port!.name);
    const volumes = pod.volumes!.map(({ name }) => name);
    assert.deepEqual(container.volumeMounts!.map(({ name }) => name).sort(), volumes.sort());
    assert.ok(kustomization.images.some(({ name }) => name === container.image));
  });

  it('set only known settings, whose secret files are mounted', () => {
    const known = Object.values(settings).flatMap((each) => [each.env, `${each.env}_FILE`]);
    const { secret } = pod.volumes!.find(({ name }) => name === 'secrets')!;
    const { mountPath } = container.volumeMounts!.find(({ name }) => name === 'secrets')!;
    const files = secret!.items!.map(({ path }) => join(mountPath, path));
    for (const name of Object.keys(env)) assert.ok(known.includes(name), name);
    const named = Object.keys(env).filter((name) => name.endsWith('_FILE'));
    assert.deepEqual(
      named.map((name) => env[name]),
      files,
    );
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
    const { periodSeconds, failureThreshold } = container.startupProbe!;
    assert.ok(periodSeconds! * failureThreshold! * 1_000 > millisecondsOf('databaseWaitMs'));
    const shutdownMs = millisecondsOf('shutdownDelayMs') + millisecondsOf('shutdownTimeoutMs');
    assert.ok(pod.terminationGracePeriodSeconds! * 1_000 > shutdownMs);
    // The pod is taken out of the Service while it still serves.
    const readiness = container.readinessProbe!;
    assert.ok(
      readiness.periodSeconds! * readiness.failureThreshold! * 1_000 < millisecondsOf('shutdownDelayMs'),
    );
  });

  it('replace and evict one process only while another one is ready', () => {
    const { replicas, strategy } = deployment.spec!;
    assert.equal(strategy!.rollingUpdate!.maxUnavailable, 0);
    assert.ok(replicas! - Number(budget.spec!.maxUnavailable) >= 1);
  });

  it('run without privileges, as the user of the image, on a read-only file system', () => {
    const { runAsNonRoot, runAsUser, fsGroup } = pod.securityContext!;
    assert.deepEqual([runAsNonRoot, runAsUser, fsGroup], [true, 1_000, 1_000]);
    assert.match(readFileSync('Dockerfile', 'utf8'), /^USER node$/m);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    } satisfies Container['securityContext']);
    assert.equal(pod.automountServiceAccountToken, false);
    assert.equal(pod.volumes!.find(({ name }) => name === 'secrets')!.secret!.defaultMode, 0o440);
  });
});
