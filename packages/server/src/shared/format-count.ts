/** Formats a count with its noun: `1 event`, `2 events`. */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
