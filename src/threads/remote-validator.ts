// Checks properties in the threads of the main thread: there is one set of them in a process, which divides its time
// among all workspaces.

import type { JsonText } from '../domain/json/strict-json.ts';
import {
  OVERLOADED,
  PropertySchemaInvalid,
  type Validator,
} from '../operations/property-schema/validator/validator.ts';
import { Problem, type Violation } from '../problem.ts';
import type { MainCalls, Validation } from './calls.ts';

type Validate = (...args: Parameters<MainCalls['validate']>) => Promise<Validation>;

export class RemoteValidator implements Validator {
  readonly #validate: Validate;

  constructor(validate: Validate) {
    this.#validate = validate;
  }

  async compile(tenant: number, schema: JsonText): Promise<void> {
    violationsIn(await this.#validate(tenant, schema, null));
  }

  async check(tenant: number, schema: JsonText, properties: readonly JsonText[]): Promise<Violation[][]> {
    return violationsIn(await this.#validate(tenant, schema, properties));
  }
}

function violationsIn(validation: Validation): Violation[][] {
  if ('violations' in validation) return validation.violations;
  if ('overloaded' in validation) throw OVERLOADED;
  const { pointer, message, isRepeated } = validation.invalid;
  throw new PropertySchemaInvalid(pointer, message, isRepeated);
}

/** Answers `RemoteValidator`. */
export async function validate(
  validator: Validator,
  ...[tenant, schema, properties]: Parameters<MainCalls['validate']>
): Promise<Validation> {
  try {
    if (properties !== null) return { violations: await validator.check(tenant, schema, properties) };
    await validator.compile(tenant, schema);
    return { violations: [] };
  } catch (error) {
    if (error instanceof PropertySchemaInvalid) {
      const { pointer, message, isRepeated } = error;
      return { invalid: { pointer, message, isRepeated } };
    }
    if (error instanceof Problem && error.code === 'overloaded') return { overloaded: true };
    throw error;
  }
}
