import type { ExportedEvent } from '../database-export.ts';

/** Returns the length of an event's attributes in UTF-16 code units. In a large event, attributes take nearly all the space. */
export const charactersOf = ({ attributes }: Pick<ExportedEvent, 'attributes'>): number => {
  let characters = 0;
  for (const [attrID, value] of attributes) characters += attrID.length + value.length;
  return characters;
};
