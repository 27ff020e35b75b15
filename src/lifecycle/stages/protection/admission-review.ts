import * as z from 'zod';

/** Fields that decide about a request; all other fields pass unchecked. */
const guardedObject = z
  .looseObject({
    metadata: z
      .looseObject({
        labels: z.record(z.string(), z.string()).nullish(),
        ownerReferences: z.array(z.unknown()).nullish(),
      })
      .optional(),
  })
  .nullish();

/** AdmissionReview of admission.k8s.io/v1 as sent by the API server; newer fields are ignored. */
export const admissionReview = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string().min(1),
    operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    resource: z.object({ group: z.string().default(''), resource: z.string() }),
    subResource: z.string().default(''),
    name: z.string().default(''),
    namespace: z.string().default(''),
    userInfo: z.object({
      username: z.string().default(''),
      groups: z.array(z.string()).nullish(),
    }),
    object: guardedObject,
    oldObject: guardedObject,
    dryRun: z.boolean().nullish(),
  }),
});

export type AdmissionRequest = z.infer<typeof admissionReview>['request'];
export type GuardedObject = NonNullable<AdmissionRequest['object']>;

/** Returns the response to a review. */
export function reviewed(uid: string, refusal: string | undefined) {
  const status = { code: 403, reason: 'Forbidden', message: refusal };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: refusal === undefined ? { uid, allowed: true } : { uid, allowed: false, status },
  };
}
