import * as z from 'zod';
import type { HttpAnswer } from '../requests/transport.ts';
import { textOfError } from './requests/answer-failure.ts';

/** Cause that Keystone states for a refused login. */
export interface RefusalCause {
  /** Text for the message end, with parentheses; '' when Keystone states no cause. */
  readonly words: string;
  /** True if the account is the cause: logins for another project, or unscoped, would fail, too. */
  readonly isAccount: boolean;
}

// keystone/exception.py: Unauthorized has the same text for a wrong password, an unknown user and a project without
// role.
const generic = /^The request you have made requires authentication\.?$/;
// PasswordExpired, AccountLocked, UserDisabled, and the texts added by `insecure_debug`.
const ofAccount =
  /\b(password (is|has) expired|(account|user|domain) is (locked|disabled)|invalid (user ?name|user|password))\b/i;
const furtherMethods = /^additional authentications? steps? required/i;
const receiptSchema = z.object({
  receipt: z.unknown(),
  required_auth_methods: z.array(z.array(z.string())),
});
const advice = 'use an application credential';

/** Reads the cause from a refused login. Texts that contain the login's secret are not quoted. */
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

/** Returns the multi-factor methods from Keystone's auth receipt; undefined: no receipt. */
function requiredMethods(text: string): string | undefined {
  try {
    const { data } = receiptSchema.safeParse(JSON.parse(text));
    return data?.required_auth_methods.map((methods) => methods.join(' and ')).join(', or ');
  } catch {
    return undefined;
  }
}
