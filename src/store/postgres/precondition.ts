// Preconditions in SQL, so that one statement checks them and changes the row.

import type { Precondition } from '../../domain/precondition.ts';
import type { Field } from '../row-shape.ts';

// Built with casts: "||" of a number and a text is not immutable, and Citus rejects it in an update.
const VERSION_TAG = `stored.team_id::text || '-' || stored.version::text`;

/** Whether the row `stored` meets the precondition in the columns `versions` and `excluded_versions` of `sent`. */
export const MEETS_PRECONDITION = `(sent.versions is null
        or ${VERSION_TAG} = any (string_to_array(sent.versions, ',')))
      and (sent.excluded_versions is null
        or ${VERSION_TAG} <> all (string_to_array(sent.excluded_versions, ',')))`;

/** The columns have version tags separated by commas, which no tag contains; null for no condition. */
export const PRECONDITION: Field<Precondition | undefined> = {
  columns: [
    { name: 'versions', type: 'text' },
    { name: 'excluded_versions', type: 'text' },
  ],
  write: (precondition, cells) => {
    cells.push(requiredVersions(precondition), excludedVersions(precondition));
  },
};

/** An existing row always meets `If-Match: *`, and never `If-None-Match: *`, which allows no version. */
function requiredVersions({ ifMatch, ifNoneMatch }: Precondition = {}): string | null {
  if (ifNoneMatch === '*') return '';
  return ifMatch === '*' ? null : (ifMatch?.join(',') ?? null);
}

function excludedVersions({ ifNoneMatch }: Precondition = {}): string | null {
  return ifNoneMatch === '*' ? null : (ifNoneMatch?.join(',') ?? null);
}
