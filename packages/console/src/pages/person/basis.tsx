/** Whether the site's server verified a link or a contact's value, or only a browser claimed it. */
import { Badge } from '../../parts/small.tsx';

export const Basis = ({ verified = false }: { readonly verified?: boolean }) => (
  <Badge
    tone={verified ? 'good' : 'open'}
    title={verified ? 'Confirmed by your server' : 'Not confirmed by your server'}
  >
    {verified ? 'verified' : 'claimed'}
  </Badge>
);
