import { KubeError } from '../../../src/kube/errors.ts';

/** The error with which a call was refused; throws when it was not. */
export async function refusalOf(call: Promise<unknown>): Promise<KubeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof KubeError) return error;
    throw error;
  }
  throw new Error('the server accepted what it has to refuse');
}
