/**
 * A key of this browser that no script can read. WebCrypto makes the key, and IndexedDB keeps it. Tokens that are sealed with it are of no use
 * outside this browser. The key does not protect against scripts of this page: those can use it.
 */
export async function browserKey(name) {
  if (!globalThis.isSecureContext) throw new Error('browserKey needs a secure context: serve the page over https')
  const database = await answerOf(indexedDB.open(`key ${name}`, 1), (request) => {
    request.onupgradeneeded = () => request.result.createObjectStore('keys')
  })
  const usages = ['encrypt', 'decrypt']
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, usages)
  const keys = database.transaction('keys', 'readwrite').objectStore('keys')
  const kept = await answerOf(keys.get('key'), (request) => {
    // Read and put in the same transaction: two tabs must not make two keys.
    request.addEventListener('success', () => request.result ?? keys.put(made, 'key'))
  })
  database.close()
  return kept ?? made
}

function answerOf(request, prepare) {
  return new Promise((resolve, reject) => {
    prepare(request)
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}
