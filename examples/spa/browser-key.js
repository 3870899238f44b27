/**
 * A key of this browser that no script can read: WebCrypto makes it, IndexedDB keeps it as it is. Tokens that are sealed with it are of no use
 * outside this browser. Scripts of this page can use it: it does not help against those.
 */
export async function browserKey(name) {
  const database = await answerOf(indexedDB.open(`key ${name}`, 1), (request) => {
    request.onupgradeneeded = () => request.result.createObjectStore('keys')
  })
  const usages = ['encrypt', 'decrypt']
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, usages)
  const keys = database.transaction('keys', 'readwrite').objectStore('keys')
  const kept = await answerOf(keys.get('key'), (request) => {
    // In the same transaction: two tabs must not make two keys.
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
