/** The dialog that creates a digest or an alert, which is loaded when it is opened. */
import type { ComponentProps } from 'preact';
import { Lazy } from '../parts/lazy.tsx';
import type { MailView } from './settings/notifications/mail-view.tsx';

const load = () => import('./mails.ts').then((mails) => mails.MailView);

export const MailDialog = (props: ComponentProps<typeof MailView>) => <Lazy load={load} {...props} />;
