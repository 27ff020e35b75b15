import * as z from 'zod';

/** HTTP bodies for the trigger endpoint: `POST /v1/triggers/openstackconfigs/{namespace}/{name}`. */
export const triggerPath = '/v1/triggers/openstackconfigs';

/** Headers for a signed call: seconds since 1970, and `sha256=` with the hexadecimal HMAC. */
export const timestampHeader = 'x-multinic-timestamp';
export const signatureHeader = 'x-multinic-signature';

const name = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'must be a Kubernetes name');

export const triggerParams = z.object({ namespace: name, name });

export const triggerAnswer = z.object({
  id: z
    .string()
    .describe(
      'Value of the annotation multinic.io/reconcile-at; status.lastHandledReconcileAt has this value after the sync.',
    ),
  namespace: z.string(),
  name: z.string(),
});
