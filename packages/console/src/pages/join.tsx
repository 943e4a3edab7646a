/** Accepts an invitation, with a name and a password or passkey. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Field } from '../parts/field.tsx';
import { Logo } from '../parts/logo.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { Skeleton } from '../parts/small.tsx';
import { createPasskey, hasPasskeys } from '../passkeys.ts';
import { acceptInvitation, type Invitation, readInvitation } from '../session.ts';

const roles = {
  viewer: 'You can read everything.',
  editor: 'You can read everything and edit contacts and the catalogue.',
  owner: 'You can read and change everything.',
} as const;

/** Takes focus, so that screen readers continue here once the invitation has loaded. */
const Heading = ({ children }: { readonly children: ComponentChildren }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
};

const Accept = ({ invitation, code }: { readonly invitation: Invitation; readonly code: string }) => {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const { accountName, memberEmailaddress, memberName, memberRole } = invitation;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Record<string, string>;
    setBusy(true);
    const { name = '', password = '' } = fields;
    setProblem(await acceptInvitation({ code, memberName: name, password }));
    setBusy(false);
  };
  const withPasskey = async ({ currentTarget: { form } }: { readonly currentTarget: HTMLButtonElement }) => {
    const field = form?.elements.namedItem('name') as HTMLInputElement;
    if (!field.reportValidity()) return;
    setBusy(true);
    const { problem, passkey } = await createPasskey('to-join', { code });
    setProblem(problem || (await acceptInvitation({ code, memberName: field.value, passkey })));
    setBusy(false);
  };
  return (
    <form onSubmit={submit} aria-busy={isBusy}>
      <Logo />
      <Heading>Join {accountName}</Heading>
      <p>{roles[memberRole]}</p>
      <Field label="E-mail address">
        {(attributes) => (
          <input {...attributes} type="email" autocomplete="username" readOnly value={memberEmailaddress} />
        )}
      </Field>
      <Field label="Your name">
        {(attributes) => (
          <input {...attributes} name="name" autocomplete="name" required maxLength={255} defaultValue={memberName} />
        )}
      </Field>
      <NewPassword label="Password" />
      {problem && (
        <p class="sign-in-problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="main" disabled={isBusy}>
        Join
      </button>
      {hasPasskeys && (
        <button type="button" disabled={isBusy} onClick={withPasskey}>
          Join with a passkey instead
        </button>
      )}
    </form>
  );
};

export const Join = ({ code }: { readonly code: string }) => {
  const [invitation, setInvitation] = useState<Invitation | string | undefined>(undefined);
  useEffect(() => {
    document.title = 'Join · Firsthand';
    if (code === '')
      setInvitation('The link is incomplete: the code at its end is missing. Open the original link again.');
    else readInvitation(code).then(setInvitation);
  }, [code]);
  return (
    <main class="sign-in" id="content">
      {invitation === undefined && <Skeleton lines={6} />}
      {typeof invitation === 'string' && (
        <form>
          <Logo />
          <Heading>This invitation isn’t valid</Heading>
          <p role="alert">{invitation}</p>
          <p>
            <a href="./" target="_self">
              Go to the console
            </a>
          </p>
        </form>
      )}
      {typeof invitation === 'object' && <Accept invitation={invitation} code={code} />}
    </main>
  );
};
