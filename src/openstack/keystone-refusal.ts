import * as z from 'zod';
import type { HttpAnswer } from '../requests/transport.ts';
import { textOfError } from './requests/answer-failure.ts';

/** What Keystone states about a login that it refused. */
export interface RefusalCause {
  /** For the end of a message, with its parentheses; '' when Keystone states no cause. */
  readonly words: string;
  /** Whether the cause is the account: a login for another project, or without one, would be refused, too. */
  readonly isAccount: boolean;
}

// keystone/exception.py: Unauthorized says this of a wrong password, an unknown user and a project without a role alike.
const generic = /^The request you have made requires authentication\.?$/;
// PasswordExpired, AccountLocked, UserDisabled, and what `insecure_debug` adds.
const ofAccount =
  /\b(password (is|has) expired|(account|user|domain) is (locked|disabled)|invalid (user ?name|user|password))\b/i;
const furtherMethods = /^additional authentications? steps? required/i;
const receiptSchema = z.object({
  receipt: z.unknown(),
  required_auth_methods: z.array(z.array(z.string())),
});
const advice = 'use an application credential';

/** Reads the cause from a refused login. A text that holds the secret of the login is not quoted. */
export function refusalCause(answer: HttpAnswer, secret: string): RefusalCause {
  const required = requiredMethods(answer.text);
  const text = textOfError(answer);
  if (required !== undefined || furtherMethods.test(text)) {
    const methods = required || 'further authentication methods';
    return { words: ` (Keystone requires ${methods}; ${advice})`, isAccount: true };
  }
  const isQuotable = text !== '' && !generic.test(text) && !text.includes(secret);
  return { words: isQuotable ? ` (Keystone: ${text})` : '', isAccount: ofAccount.test(text) };
}

/** The methods of a multi-factor login, which Keystone answers with a receipt; undefined: no receipt. */
function requiredMethods(text: string): string | undefined {
  try {
    const { data } = receiptSchema.safeParse(JSON.parse(text));
    return data?.required_auth_methods.map((methods) => methods.join(' and ')).join(', or ');
  } catch {
    return undefined;
  }
}
