import { KubeError } from '../../../src/kube/errors.ts';

/** Resolves to the error of a refused call; throws when the call succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<KubeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof KubeError) return error;
    throw error;
  }
  throw new Error('the server accepted what it has to refuse');
}
