/** One value for each key, the last one given. */
export const distinct = <Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => unknown = (value) => value,
): Value[] => [...new Map([...values].map((value) => [keyOf(value), value])).values()];
