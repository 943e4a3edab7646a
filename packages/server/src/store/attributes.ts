import type { HeldEvent } from './holdings.ts';

/** How much an event's attributes take, in UTF-16 code units: of a large event, nearly all. */
export const charactersOf = ({ attributes }: Pick<HeldEvent, 'attributes'>): number => {
  let characters = 0;
  for (const [attrID, value] of attributes) characters += attrID.length + value.length;
  return characters;
};
