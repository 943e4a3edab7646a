/** A hook for copying text. */
import { useState } from 'preact/hooks';

const copiedMs = 1_500;

/** `copy` does nothing without a secure context (HTTPS or localhost), where pages have no clipboard. */
export const useCopy = (text: string) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(setCopied, copiedMs, false);
    });
  return { isCopied, copy };
};
