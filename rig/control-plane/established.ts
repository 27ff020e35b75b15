import type { ControlPlane } from './control-plane.ts';

const tries = 20;

/** Resolves when the API server serves every CustomResourceDefinition that was applied. */
export async function untilEstablished(plane: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
      return;
    } catch (error) {
      // Of a definition that is so new that its conditions are null, kubectl makes an error.
      if (left === 0 || !String(error).includes('conditions accessor error')) throw error;
    }
  }
}
