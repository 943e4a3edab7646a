/** A search box that stores its text in the URL, debounced. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from '../address.ts';

const typingMs = 200;

export const SearchBox = ({ label }: { readonly label: string }) => {
  const urlText = query.value.get('text') ?? '';
  const [text, setText] = useState(urlText);
  // The last text this box wrote to the URL. It is trimmed, and may be older than the text in the box.
  const lastText = useRef(urlText);
  useEffect(() => {
    if (urlText === lastText.current) return;
    lastText.current = urlText;
    setText(urlText);
  }, [urlText]);
  useEffect(() => {
    const next = text.trim();
    if (next === lastText.current) return;
    const timer = setTimeout(() => {
      lastText.current = next;
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
