// The difference between the stored configuration and a sent one, as the API and the command line write it.

import { jsonText, NULL, objectText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { SectionName } from './config.ts';

export const changeActions = ['create', 'update', 'delete'] as const;

/** One difference between the stored and the sent configuration. */
export interface ConfigChange {
  section: SectionName;
  id: string;
  action: (typeof changeActions)[number];
  /** The entry as it is stored; null if there is none. */
  before: JsonText | null;
  /** The entry as it will be; null if it is deleted. */
  after: JsonText | null;
  /** Whether a sent secret differs from the stored one. */
  replacesSecret: boolean;
}

/** Place of an entry that is stored but was not sent. */
export type KeptEntry = Pick<ConfigChange, 'section' | 'id'>;

export interface ConfigPlan {
  /** The version of the configuration that the plan is for or, once it is applied, the new one. */
  version: number;
  changes: readonly ConfigChange[];
  /** Entries that only `prune` would delete. */
  kept: readonly KeptEntry[];
}

/** Size of an entry of a plan: its id, and what it was and will be. */
export function planBytes({ id, before, after }: KeptEntry & Partial<ConfigChange>): number {
  return [id, before ?? NULL, after ?? NULL].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

export function planTexts({ version, changes, kept }: ConfigPlan) {
  return {
    changes: `[${changes.map(changeText).join(',')}]` as JsonText,
    kept: jsonText(kept),
    config_version: jsonText(version),
  };
}

function changeText({ section, id, action, before, after, replacesSecret }: ConfigChange): JsonText {
  return objectText([
    ['section', jsonText(section)],
    ['id', jsonText(id)],
    ['action', jsonText(action)],
    ['before', before ?? NULL],
    ['after', after ?? NULL],
    ['replaces_secret', jsonText(replacesSecret)],
  ]);
}
