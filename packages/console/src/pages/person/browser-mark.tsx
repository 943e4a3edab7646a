/** The number and the color by which a person's browsers are told apart, in the card that lists them and in the history. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { hueOf } from '../../reading/person.ts';

/** The number of each browser, by its userUUID. */
export const BrowserNumbers = createContext<ReadonlyMap<string, number>>(new Map());

/** Nothing, if the person has one browser only. */
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
