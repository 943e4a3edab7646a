/** A search box whose text is in the address, a moment after it was typed. */
import { useEffect, useState } from 'preact/hooks';
import { query, setQuery } from '../address.ts';

const typingMs = 200;

export const SearchBox = ({ label }: { readonly label: string }) => {
  const inAddress = query.value.get('text') ?? '';
  const [text, setText] = useState(inAddress);
  useEffect(() => setText(inAddress), [inAddress]);
  useEffect(() => {
    const timer = setTimeout(() => setQuery({ text: text.trim() }, { replace: true }), typingMs);
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
