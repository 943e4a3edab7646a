/** A button that copies a text, and says that it did. */
import { useState } from 'preact/hooks';

const copiedMs = 1_500;

export const CopyButton = ({ text }: { readonly text: string }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(setCopied, copiedMs, false);
    });
  return (
    <button type="button" class="main" onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
};
