/** The number and color that distinguish a person's browsers, in the card that lists them and in the history. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { hueOf } from '../../reading/person.ts';

/** Each browser's display number, by userUUID. */
export const BrowserNumbers = createContext<ReadonlyMap<string, number>>(new Map());

/** Renders nothing if the person has only one browser. */
export const BrowserMark = ({ userUUID }: { readonly userUUID: string }) => {
  const numbers = useContext(BrowserNumbers);
  const number = numbers.get(userUUID);
  if (number === undefined || numbers.size < 2) return null;
  return (
    <span class="face browser-mark" style={{ '--hue': hueOf(userUUID) }}>
      <span class="unseen">Browser </span>
      {number}
    </span>
  );
};
