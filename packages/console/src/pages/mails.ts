/** Digests and alerts, in one chunk, which is loaded when it is shown. */
export { MailView } from './settings/notifications/mail-view.tsx';
export { Notifications } from './settings/notifications/notifications.tsx';
