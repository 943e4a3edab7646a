/** Returns the last value with each key, in the order in which the keys first appear. */
export const distinct = <Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => unknown = (value) => value,
): Value[] => [...new Map([...values].map((value) => [keyOf(value), value])).values()];
