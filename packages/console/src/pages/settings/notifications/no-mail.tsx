/** Explains how to let the server send mails. */
export const NoMail = () => (
  <div class="problem">
    <p>
      This server can’t send mails yet. Its operator sets SMTP_URL, MAIL_FROM and CONSOLE_ORIGIN:{' '}
      <a href="../docs/mail">Digests and alerts</a>.
    </p>
  </div>
);
