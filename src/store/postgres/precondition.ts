// Preconditions in SQL, so that one statement checks them and changes the row.

import type { Precondition } from '../../domain/precondition.ts';

// Built with casts: "||" of a number and a text is not immutable, and Citus rejects it in an update.
const VERSION_TAG = `stored.team_id::text || '-' || stored.version::text`;

/** Whether the row `stored` meets the precondition in the columns `versions` and `excluded_versions` of `sent`. */
export const MEETS_PRECONDITION = `(sent.versions is null
        or ${VERSION_TAG} = any (string_to_array(sent.versions, ',')))
      and (sent.excluded_versions is null
        or ${VERSION_TAG} <> all (string_to_array(sent.excluded_versions, ',')))`;

/** Version tags separated by commas, which no tag contains; undefined for no condition. */
type Column = (string | undefined)[];

export function columnsOfPreconditions(
  commands: readonly { precondition?: Precondition | undefined }[],
): [versions: Column, excludedVersions: Column] {
  return [
    commands.map(({ precondition }) => requiredVersions(precondition)),
    commands.map(({ precondition }) => excludedVersions(precondition)),
  ];
}

/** An existing row always meets `If-Match: *` and never `If-None-Match: *`, which requires one of no versions. */
function requiredVersions({ ifMatch, ifNoneMatch }: Precondition = {}): string | undefined {
  if (ifNoneMatch === '*') return '';
  return ifMatch === '*' ? undefined : ifMatch?.join(',');
}

function excludedVersions({ ifNoneMatch }: Precondition = {}): string | undefined {
  return ifNoneMatch === '*' ? undefined : ifNoneMatch?.join(',');
}
