/** Header of an answer that has more: give its value as `continue` to get the next page. */
export const continueHeader = 'x-continue';
