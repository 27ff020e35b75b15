/** Response header on an incomplete list; its value as query parameter `continue` requests the next page. */
export const continueHeader = 'x-continue';
