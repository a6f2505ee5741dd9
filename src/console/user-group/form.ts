// The form of a user group: what a person types, and what the API accepts.

import { userGroupChanges } from '../../domain/event/changes.ts';
import { limits } from '../../domain/field.ts';
import { refuseFields } from '../../domain/request-body.ts';
import {
  type SettableFields,
  settableFields,
  type UserGroup,
  versionTag,
} from '../../domain/user-group/user-group.ts';
import { type UserGroupFields, userGroupBody } from '../../domain/user-group/user-group-body.ts';
import { Problem, type Violation } from '../../problem.ts';
import { type Change, changeList } from '../event/changes.ts';
import { hidden, nameField } from '../form/fields.ts';
import { formBody } from '../form/form.ts';
import { type Opened, openedFields, openedIn } from '../form/version.ts';
import { type Html, html } from '../markup/html.ts';
import { environmentConfig, type PageCall } from '../page.ts';
import { mappingFields, mappingText, readMapping, type TypedMapping, typedMapping } from './mapping.ts';
import { groupOfText, textOfGroup, withStored } from './merge.ts';
import {
  propertiesText,
  propertyFields,
  readProperties,
  type TypedProperties,
  typedProperties,
} from './properties.ts';

/** The fields as typed, valid or not. */
export interface TypedGroup {
  name: string;
  mapping: TypedMapping;
  properties: TypedProperties;
}

/** Maximum of all fields, which two calls may have stored one after the other. */
const MAX_BYTES = 2 * limits.bodyBytes;
const NOTHING: SettableFields = { name: '', mapping: null, properties: null };

/** Whether the person asked for mapping and properties as JSON, by a link or by the button of the form. */
function isJsonForm({ query, form }: PageCall): boolean {
  return (form.has(AS) ? form.text(AS) : query.get(AS)) === 'json';
}

/** `fields` is absent for a new group. */
export async function typedGroup(
  call: PageCall,
  { name, mapping, properties }: SettableFields = NOTHING,
): Promise<TypedGroup> {
  const config = await environmentConfig(call);
  const schema = config.propertySchema?.schema ?? null;
  const isJson = isJsonForm(call);
  return {
    name,
    mapping: typedMapping(config, mapping, isJson),
    properties: typedProperties(schema, properties, isJson),
  };
}

/** A submitted form, with the group as it is stored now. */
export interface Submission {
  stored: UserGroup;
  fields: SettableFields;
  /** null if the form does not say what it was opened with. */
  base: SettableFields | null;
}

/** Throws like `readGroupFields`. */
export async function submittedFields(call: PageCall, id: string): Promise<Omit<Submission, 'stored'>> {
  const { form } = call;
  const base = groupOfText(openedIn(form).base);
  const fields = await readGroupFields(call, id, await readGroup(call), base ?? NOTHING);
  return { base, fields: base === null ? fields : withStored(fields, base, form.texts(KEEP)) };
}

export async function readGroup(call: PageCall): Promise<TypedGroup> {
  const { form } = call;
  const { propertySchema } = await environmentConfig(call);
  return {
    name: form.text('name'),
    mapping: readMapping(form),
    properties: readProperties(form, propertySchema?.schema ?? null),
  };
}

/**
 * Returns the fields as the API reads them, with the members of mapping and properties in the order of
 * `stored`. Throws `invalid_request` with all violations, and `body_too_large`.
 */
export async function readGroupFields(
  call: PageCall,
  id: string,
  { name, mapping, properties }: TypedGroup,
  stored: SettableFields = NOTHING,
): Promise<SettableFields> {
  const { catalogue } = await environmentConfig(call);
  const violations: Violation[] = [];
  const fields = {
    name,
    mapping: mappingText(mapping, catalogue, stored.mapping, violations),
    properties: propertiesText(properties, stored.properties, violations),
  };
  const body =
    `{"user_group_id":${JSON.stringify(id)},"name":${JSON.stringify(name)},` +
    `"mapping":${fields.mapping},"properties":${fields.properties}}`;
  try {
    userGroupBody.read(formBody(body, MAX_BYTES));
  } catch (error) {
    if (!(error instanceof Problem) || violations.length === 0) throw error;
    violations.push(...error.errors);
  }
  refuseFields(violations);
  return fields;
}

export function changedFields(stored: SettableFields, fields: SettableFields): UserGroupFields {
  const changed = settableFields.filter((field) => stored[field] !== fields[field]);
  return Object.fromEntries(changed.map((field) => [field, fields[field]])) as UserGroupFields;
}

/** Returns the differences, member by member. */
export function differences(stored: UserGroup, fields: SettableFields): Change[] {
  return changeList(userGroupChanges(stored, { ...stored, ...fields }).within(Number.POSITIVE_INFINITY));
}

/** `userGroupId` is null for a new group. */
export async function groupFields(
  call: PageCall,
  { name, mapping, properties }: TypedGroup,
  userGroupId: string | null,
  problem: Problem | undefined,
): Promise<Html> {
  return html`${nameField({ value: name, problem })}
${mappingFields(mapping, await environmentConfig(call), userGroupId, problem)}
${await propertyFields(call.context.cpu, properties, problem)}`;
}

/** Button that shows the form in the other mode. Must follow the main button, which the Enter key presses. */
export function modeButton({ mapping, properties }: TypedGroup, path: string): Html {
  const isJson = mapping.inputs.length + properties.inputs.length === 0;
  const [as, text] = isJson ? ['form', 'Edit as a form'] : ['json', 'Edit as JSON'];
  return html`<button type="submit" class="plain" formaction="${path}" formnovalidate name="${AS}" value="${as}">${text}</button>`;
}

/** Name of the button, and of the parameter in an address. */
const AS = 'as';

export function openedGroup(stored: UserGroup): Opened {
  return { version: versionTag(stored), base: textOfGroup(stored) };
}

/** Hidden fields with the typed values, and what is stored. */
export function hiddenFields({ name, mapping, properties }: SettableFields, stored: UserGroup): Html {
  return html`${openedFields(openedGroup(stored))}
${hidden('name', name)}${hidden('mapping', mapping ?? '')}${hidden('properties', properties ?? '')}`;
}

/** Name of the check boxes that keep the stored value of a field after a conflict. */
export const KEEP = 'keep';
