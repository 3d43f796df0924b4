// Checks descriptions and programs with a checkout of syzkaller: compiles all descriptions of Linux together with the given
// ones for linux/amd64, and reads the programs in strict mode. `bench/probe_syzkaller.py` builds it inside of the checkout.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/syzkaller/pkg/ast"
	"github.com/google/syzkaller/pkg/compiler"
	"github.com/google/syzkaller/prog"
	"github.com/google/syzkaller/sys/linux"
	"github.com/google/syzkaller/sys/targets"
)

func fail(format string, words ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
	os.Exit(1)
}

// Arguments: the folder sys/linux of the checkout, then descriptions (*.txt) and programs (*.syz).
func main() {
	failed := false
	report := func(pos ast.Pos, message string) {
		fmt.Fprintf(os.Stderr, "%v: %v\n", pos, message)
		failed = true
	}
	all := ast.ParseGlob(filepath.Join(os.Args[1], "*.txt"), report)
	if all == nil {
		fail("the descriptions of the checkout do not parse")
	}
	var programs, given []string
	for _, name := range os.Args[2:] {
		if strings.HasSuffix(name, ".syz") {
			programs = append(programs, name)
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			fail("%v", err)
		}
		desc := ast.Parse(text, name, report)
		if desc == nil {
			fail("%v does not parse", name)
		}
		if formatted := ast.Format(desc); string(formatted) != string(text) {
			fmt.Printf("note: %v is not as syz-fmt writes it\n", name)
		}
		given = append(given, name)
		all.Nodes = append(all.Nodes, desc.Nodes...)
	}
	consts := compiler.DeserializeConstFile(filepath.Join(os.Args[1], "*.const"), report)
	if consts == nil {
		fail("the constants of the checkout cannot be read")
	}
	known := consts.Arch(targets.AMD64)
	target := targets.Get(targets.Linux, targets.AMD64)
	var values []prog.ConstValue
	for name, value := range known {
		values = append(values, prog.ConstValue{Name: name, Value: value})
	}
	var about []string // messages that name a given file: errors, and warnings about it
	warn := func(pos ast.Pos, message string) {
		for _, name := range given {
			if pos.File == name || pos.File == filepath.Base(name) {
				about = append(about, fmt.Sprintf("%v: %v", pos, message))
			}
		}
	}
	compiled := compiler.Compile(all, known, target, warn)
	for _, message := range about {
		fmt.Fprintln(os.Stderr, message)
	}
	if compiled == nil || failed || len(about) != 0 {
		fail("the descriptions do not compile")
	}
	fmt.Printf("%d descriptions compile with those of Linux: %d calls\n", len(given), len(compiled.Syscalls))
	prog.RegisterTarget(&prog.Target{
		OS: target.OS, Arch: target.Arch, PtrSize: target.PtrSize, PageSize: target.PageSize,
		NumPages: target.NumPages, DataOffset: target.DataOffset,
		Syscalls: compiled.Syscalls, Resources: compiled.Resources, Consts: values, Types: compiled.Types,
	}, func(*prog.Target) {}, linux.InitTarget)
	made, err := prog.GetTarget(target.OS, target.Arch)
	if err != nil {
		fail("%v", err)
	}
	for _, name := range programs {
		text, err := os.ReadFile(name)
		if err != nil {
			fail("%v", err)
		}
		read, err := made.Deserialize(text, prog.Strict)
		if err != nil {
			fail("%v: %v", name, err)
		}
		if len(read.Calls) > prog.MaxCalls {
			fail("%v: %d calls, and a seed has %d at most", name, len(read.Calls), prog.MaxCalls)
		}
		exec, err := read.SerializeForExec()
		if err != nil {
			fail("%v: %v", name, err)
		}
		decoded, err := made.DeserializeExec(exec, nil)
		if err != nil {
			fail("%v: %v", name, err)
		}
		printAnswers(name, decoded)
		fmt.Printf("%v: %d calls\n", filepath.Base(name), len(read.Calls))
	}
}

// memory has the bytes that the calls of a program find.
type memory map[uint64]byte

func (m memory) bytes(at, count uint64) []byte {
	found := make([]byte, 0, count)
	for ; count > 0; count-- {
		found = append(found, m[at])
		at++
	}
	return found
}

func (m memory) number(at, count uint64) uint64 {
	wide := append(m.bytes(at, count), make([]byte, 8-count)...)
	return binary.LittleEndian.Uint64(wide)
}

func memoryOf(call prog.ExecCall) memory {
	found := memory{}
	for _, in := range call.Copyin {
		switch arg := in.Arg.(type) {
		case prog.ExecArgConst:
			for at := uint64(0); at < arg.Size; at++ {
				found[in.Addr+at] = byte(arg.Value >> (8 * at))
			}
		case prog.ExecArgData:
			for at, value := range arg.Data {
				found[in.Addr+uint64(at)] = value
			}
		}
	}
	return found
}

func value(arg prog.ExecArg) uint64 {
	if number, ok := arg.(prog.ExecArgConst); ok {
		return number.Value
	}
	return 0
}

// A line of what each call sends: `answer PROGRAM CALL ...`, for the comparison with what was recorded.
func printAnswers(name string, decoded prog.ExecProg) {
	for number, call := range decoded.Calls {
		at := memoryOf(call)
		line := fmt.Sprintf("answer %v %v %v", name, number, call.Meta.CallName)
		switch call.Meta.CallName {
		case "syz_usb_connect":
			fmt.Printf("%v device %x\n", line, at.bytes(value(call.Args[2]), value(call.Args[1])))
			given := value(call.Args[3])
			for index := uint64(0); index < at.number(given+24, 4); index++ {
				entry := given + 28 + 12*index
				text := at.bytes(at.number(entry+4, 8), at.number(entry, 4))
				fmt.Printf("%v string%v %x\n", line, index, text)
			}
		case "syz_usb_control_io":
			sent := false
			for _, list := range []uint64{value(call.Args[1]), value(call.Args[2])} {
				for entry := list + 4; list != 0 && entry < list+at.number(list, 4); entry += 8 {
					if answer := at.number(entry, 8); answer != 0 {
						kind, request := at.number(answer, 1), at.number(answer+1, 1)
						data := at.bytes(answer+6, at.number(answer+2, 4))
						fmt.Printf("%v %02x %02x %x\n", line, kind, request, data)
						sent = true
					}
				}
			}
			if !sent {
				fmt.Printf("%v nothing\n", line)
			}
		case "syz_usb_ep_write":
			data := at.bytes(value(call.Args[3]), value(call.Args[2]))
			fmt.Printf("%v %02x %x\n", line, value(call.Args[1]), data)
		case "syz_usb_ep_read":
			fmt.Printf("%v %02x\n", line, value(call.Args[1]))
		}
	}
}
