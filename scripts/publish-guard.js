// Runs before `npm publish` (`prepublishOnly`) and refuses it unless the release is explicit: a publication
// cannot be undone, and the package names must belong to the project first.

import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
if (process.env.PUBLISH !== `${name}@${version}`) {
  console.error(
    `user-group-service: refusing to publish ${name}. If this registry name belongs to the project and the version is ` +
      `released, set PUBLISH=${name}@${version} and publish again.`,
  );
  process.exit(1);
}
