/**
 * The maximum size of a line, a CSV record or an element of a JSON array, each of which is held in memory as a whole.
 */
export const maxRecordBytes = 4 * 1024 * 1024;
