/** Returns a function that computes a value once per object, and keeps it as long as the object exists. */
export function oncePer<Key extends object, Rest extends unknown[], Value extends object>(
  compute: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const values = new WeakMap<Key, Value>();
  return (key, ...rest) => {
    const value = values.get(key) ?? compute(key, ...rest);
    values.set(key, value);
    return value;
  };
}
