import { loginPath, writeHeader } from '../../api/dashboard-names.ts';

/** Logs in with the token in the fragment, if any, and removes the token from the address bar and the history. */
export async function logIn(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  const headers = { 'content-type': 'application/json', [writeHeader]: '1' };
  const body = JSON.stringify({ token });
  // A used token may meet a valid cookie: the first screen tells whether the user is logged in.
  await fetch(loginPath, { method: 'POST', headers, body }).catch(() => undefined);
}
