/** Shows whether the site's server verified a link or a contact's value, or a browser only claimed it. */
import { Badge } from '../../parts/small.tsx';

export const Basis = ({ verified = false }: { readonly verified?: boolean }) => (
  <Badge
    tone={verified ? 'good' : 'open'}
    title={verified ? 'Confirmed by your server' : 'Not confirmed by your server'}
  >
    {verified ? 'verified' : 'claimed'}
  </Badge>
);
