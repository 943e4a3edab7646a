/** The Firsthand logo. Decorative: the adjacent text names the product. */
export const Logo = ({ size = 44 }: { readonly size?: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
    <path d="M16 29C7 25 4 17 6 6c11 0 18 5 18 14 0 4-3 8-8 9Z" fill="var(--brand)" />
  </svg>
);
