/** Copying a text: returns whether it was just copied, and a function that copies it. */
import { useState } from 'preact/hooks';

const copiedMs = 1_500;

/** Without HTTPS, except on this machine, a page has no clipboard: `copy` does nothing there. */
export const useCopying = (text: string) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(setCopied, copiedMs, false);
    });
  return { isCopied, copy };
};
