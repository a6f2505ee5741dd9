// Part of an import that deletes user groups which the list of customers no longer has.

import { InvalidArgumentError } from 'commander';
import { mapInChunks } from '../../operations/pages.ts';
import { DataError } from '../exit-code.ts';
import { progressBar } from '../terminal/progress.ts';
import type { ExistingUserGroup, ImportTarget } from './import-target.ts';

/** Maximum number of deletions: a number, or a share of the user groups that exist. */
export type MaxDeletions = { count: number } | { percent: number };

export const DEFAULT_MAX_DELETIONS: MaxDeletions = { percent: 5 };

/** Throws for anything but an integer, or a percentage up to 100. */
export function parseMaxDeletions(text: string): MaxDeletions {
  const [, number, sign] = /^(\d{1,9}(?:\.\d{1,3})?)(%?)$/.exec(text) ?? [];
  if (sign === '%' && Number(number) <= 100) return { percent: Number(number) };
  if (sign === '' && Number.isInteger(Number(number))) return { count: Number(number) };
  throw new InvalidArgumentError('It must be a number such as 100, or a share such as 5%.');
}

export interface DeletionPlan {
  /** Number of user groups in the list. */
  listed: number;
  existing: number;
  /** The user groups to be deleted: the list does not have them, and is not older than they are. */
  deletions: readonly ExistingUserGroup[];
  /** Number of user groups that the list does not have because they are newer. */
  newer: number;
}

/** Numbers of the user groups that were deleted, or would be, and of those that are newer than the list. */
export interface Pruned {
  deleted: number;
  newer: number;
}

/** `listedAt`: when the list was written; milliseconds since 1970. */
export async function planDeletions(
  target: ImportTarget,
  listed: Pick<ReadonlySet<string>, 'has' | 'size'>,
  listedAt: number,
): Promise<DeletionPlan> {
  const deletions: ExistingUserGroup[] = [];
  let existing = 0;
  let newer = 0;
  for await (const page of target.userGroups()) {
    existing += page.length;
    for (const userGroup of page) {
      if (listed.has(userGroup.id)) continue;
      // It may be a customer of the list, renamed since.
      if (userGroup.updatedAt > listedAt) newer++;
      else deletions.push(userGroup);
    }
  }
  return { listed: listed.size, existing, deletions, newer };
}

/**
 * Throws `DataError` if the plan deletes more than `max`: the list may be incomplete. In a small environment
 * a number may allow all deletions, so an empty list, such as a failed query leaves, requires 100%.
 */
export function refuseMassDeletion({ listed, existing, deletions }: DeletionPlan, max: MaxDeletions): void {
  const allowsAll = 'percent' in max && max.percent === 100;
  if (listed === 0 && existing > 0 && !allowsAll)
    throw new DataError(
      'the file has no user group, and only --max-delete 100% deletes all; nothing was changed',
    );
  const most = 'count' in max ? max.count : (existing * max.percent) / 100;
  if (deletions.length <= most) return;
  const limit = 'count' in max ? String(max.count) : `${max.percent}%`;
  throw new DataError(
    `${deletions.length} of ${existing} user groups are not in the file, and --max-delete allows ${limit}; nothing was changed. ` +
      'Check that the file is complete, or raise the limit; --dry-run --json lists them',
  );
}

/**
 * Deletes the groups unless the file, which may have changed, lists them by now, or they have changed since the
 * plan.
 */
export async function deletePlanned(
  target: ImportTarget,
  plan: DeletionPlan,
  listed: Pick<ReadonlySet<string>, 'has'>,
): Promise<Pruned> {
  const deletions = plan.deletions.filter(({ id }) => !listed.has(id));
  using bar = progressBar('user groups', deletions.length);
  let done = 0;
  const pruned = { deleted: 0, newer: plan.newer };
  await mapInChunks(deletions, target.concurrency, async (userGroup) => {
    const result = await target.remove(userGroup);
    if (result === 'deleted') pruned.deleted++;
    if (result === 'version_mismatch') pruned.newer++;
    bar.show(++done);
  });
  return pruned;
}
