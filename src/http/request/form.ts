// Bodies of OAuth endpoints: parameters as application/x-www-form-urlencoded. As RFC 6749 §3.2 requires,
// unknown ones are ignored, one without a value counts as absent, and none may be repeated.

import { jsonPointer } from '../../domain/json/strict-json.ts';
import { type BodyType, refuseFields, valueCheck } from '../../domain/request-body.ts';
import { Problem } from '../../problem.ts';
import { decodeParameters } from './query.ts';

interface FormDefinition<Body> {
  name: string;
  fields: Record<string, object>;
  required: readonly string[];
  convert: (values: Readonly<Record<string, string>>) => Body;
}

export function formType<Body>({ name, fields, required, convert }: FormDefinition<Body>): BodyType<Body> {
  const checks = new Map(Object.entries(fields).map(([key, schema]) => [key, valueCheck(schema)]));
  const read = (bytes: Buffer): Body => {
    const values: Record<string, string> = {};
    for (const [key, text] of decodeParameters(bytes.toString(), 'The body')) {
      if (!checks.has(key) || text === '') continue;
      if (key in values) throw new Problem('invalid_request', `Duplicate parameter ${key}.`);
      values[key] = text;
    }
    const missing = required.filter((key) => !(key in values)).map((key) => [key, 'is required'] as const);
    const invalid = Object.entries(values).map(([key, text]) => [key, checks.get(key)!(text)] as const);
    refuseFields(
      [...missing, ...invalid].flatMap(([key, detail]) =>
        detail === null ? [] : { pointer: jsonPointer([key]), detail },
      ),
    );
    return convert(values);
  };
  return {
    // Without additionalProperties, which code generators do not accept in forms.
    schema: { title: name, type: 'object', properties: fields, required },
    isRequired: true,
    read,
  };
}
