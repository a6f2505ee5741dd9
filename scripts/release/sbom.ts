// Writes the software bill of materials: CycloneDX by `npm sbom`, completed with what npm does not know.

import { dependencies, refuseLicenses } from './dependency.ts';
import { readJson, sha256, writeJson } from './file.ts';
import type { Builder } from './release.ts';
import { run } from './run.ts';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  scope?: string;
  properties?: unknown[];
  licenses?: unknown[];
}

interface Bom {
  serialNumber: string;
  metadata: { timestamp: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

export const sbom: Builder = {
  kind: 'sbom',
  what: 'software bill of materials and licences',
  peers: [],
  build: ({ version, epoch, output }) => {
    const known = dependencies();
    refuseLicenses(known);
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
    const bom = JSON.parse(run('npm', args).toString()) as Bom;
    const licenses = new Map(known.map(({ name, version, license }) => [`${name}@${version}`, license]));
    const node = readJson<{ version: string }>('node_modules/node/package.json').version;
    bom.components = bom.components
      .filter((each) => licenses.has(each['bom-ref']))
      // Each is in the artefacts, also what npm calls a development dependency and therefore optional.
      .map((each): Component => {
        const license = { id: licenses.get(each['bom-ref']) };
        return { ...each, scope: 'required', properties: [], licenses: [{ license }] };
      })
      .concat([nodeComponent(node)]);
    const refs = new Set([
      bom.metadata.component['bom-ref'],
      ...bom.components.map((each) => each['bom-ref']),
    ]);
    bom.dependencies = bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
    // Replaces the defaults: the name of the folder, the current time and a random number.
    bom.metadata.component.name = 'user-group-service';
    bom.metadata.timestamp = new Date(epoch * 1_000).toISOString();
    bom.serialNumber = serialNumber(bom);
    writeJson(`${output}/user-group-service-${version}.cdx.json`, bom);
  },
};

/** Returns the Node in the executable, the Debian package and the image, which the npm package requires. */
function nodeComponent(version: string): Component & Record<string, unknown> {
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    scope: 'required',
    name: 'node',
    version,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
  };
}

/** Returns a UUID of version 8, whose bits are free, from the digest of the version, its time and the components. */
function serialNumber({ metadata, components }: Bom): string {
  const digest = sha256(Buffer.from(JSON.stringify({ metadata, components })));
  const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  return `urn:uuid:${uuid}`;
}
