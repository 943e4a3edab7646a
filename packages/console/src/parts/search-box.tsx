/** A search box whose text is in the address, a moment after it was typed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from '../address.ts';

const typingMs = 200;

export const SearchBox = ({ label }: { readonly label: string }) => {
  const inAddress = query.value.get('text') ?? '';
  const [text, setText] = useState(inAddress);
  // What this box has put there is behind what was typed since, and has no space at its end.
  const put = useRef(inAddress);
  useEffect(() => {
    if (inAddress === put.current) return;
    put.current = inAddress;
    setText(inAddress);
  }, [inAddress]);
  useEffect(() => {
    const next = text.trim();
    if (next === put.current) return;
    const timer = setTimeout(() => {
      put.current = next;
      setQuery({ text: next }, { replace: true });
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
};
