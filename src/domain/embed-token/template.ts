// Templates of the values in embed tokens. A template names a stored value of the one group that the token is
// for. It cannot express another group, a computation, or text that is combined with a value.

import { text } from '../field.ts';
import {
  type JsonArray,
  type JsonObject,
  type JsonTree,
  jsonText,
  memberTexts,
  parseTree,
  treeText,
} from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { UserGroup } from '../user-group/user-group.ts';

const templateFields = ['provided_id', 'name', 'team_id', 'environment'] as const;
type TemplateField = (typeof templateFields)[number];

export type Template =
  | { source: 'property' | 'mapping'; name: string }
  | { source: 'field'; name: TemplateField }
  | { source: 'constant'; value: JsonText };

export const templateSchema = {
  title: 'ClaimTemplate',
  type: 'object',
  description:
    'Where the value comes from. Exactly one of: `property`, a member of the properties of the user group; `mapping`, a ' +
    'schema id of its mapping; `field`, one of its own fields; `constant`, the same value for every user group.',
  properties: {
    property: text,
    mapping: text,
    field: { type: 'string', enum: templateFields },
    constant: {
      description: 'Any JSON value except null, an empty text, an empty array and an empty object.',
    },
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const;

/** The templates of an object, by the names of its members. */
export const templatesSchema = {
  type: 'object',
  maxProperties: 50,
  propertyNames: text,
  additionalProperties: templateSchema,
} as const;

/** `tree` is valid by `templateSchema`. */
export function parseTemplate(tree: JsonTree): Template {
  const [[key, value]] = [...(tree as JsonObject).members] as [[string, JsonTree]];
  const source = JSON.parse(key) as Template['source'];
  if (source === 'constant') return { source, value: treeText(value) };
  return { source, name: JSON.parse(treeText(value)) } as Template;
}

/** Whether the value depends on the user group. */
export function isOfGroup({ source }: Template): boolean {
  return source !== 'constant';
}

/**
 * Whether the value is empty. Tools treat such a value as the absence of a restriction, so it is never part of a
 * token.
 */
export function isEmpty(value: JsonText): boolean {
  if (value[0] !== '[') return EMPTY.has(value);
  const { elements } = parseTree(value) as JsonArray;
  return elements.length === 0 || elements.some((element) => isEmpty(treeText(element)));
}

const EMPTY: ReadonlySet<string> = new Set(['null', '""', '{}']);

/** Path of the value in the user group; empty for a constant. */
export function pathOfValue(template: Template): string[] {
  if (template.source === 'constant') return [];
  if (template.source === 'field') return [template.name];
  return [template.source === 'property' ? 'properties' : 'mapping', template.name];
}

/** The values of one group. */
export class GroupValues {
  readonly userGroup: UserGroup;
  /** Results by template: a list is parsed to see whether it is empty, and may be named a hundred times. */
  readonly #filled = new Map<string, JsonText | null>();
  #properties: ReadonlyMap<string, JsonText> | null = null;
  #mapping: ReadonlyMap<string, JsonText> | null = null;

  constructor(userGroup: UserGroup) {
    this.userGroup = userGroup;
  }

  /** The exact stored value; null if the group has none, or an empty one. */
  fill(template: Template): JsonText | null {
    // Integrations have no empty constant.
    if (template.source === 'constant') return template.value;
    const key = `${template.source} ${template.name}`;
    const known = this.#filled.get(key);
    if (known !== undefined) return known;
    const value = this.#find(template);
    const filled = value === null || isEmpty(value) ? null : value;
    this.#filled.set(key, filled);
    return filled;
  }

  property(name: string): JsonText | null {
    return this.propertyByText(jsonText(name));
  }

  /** Does the same by the JSON text of the name. */
  propertyByText(name: JsonText): JsonText | null {
    this.#properties ??= memberTexts(this.userGroup.properties);
    return this.#properties.get(name) ?? null;
  }

  #find(template: Exclude<Template, { source: 'constant' }>): JsonText | null {
    switch (template.source) {
      case 'property':
        return this.property(template.name);
      case 'mapping':
        this.#mapping ??= memberTexts(this.userGroup.mapping);
        return this.#mapping.get(jsonText(template.name)) ?? null;
      case 'field':
        return fieldJson(this.userGroup, template.name);
    }
  }
}

function fieldJson(userGroup: UserGroup, name: TemplateField): JsonText {
  const fields = {
    provided_id: userGroup.providedId,
    name: userGroup.name,
    team_id: userGroup.teamId,
    environment: userGroup.environment,
  } satisfies Record<TemplateField, unknown>;
  return jsonText(fields[name]);
}
